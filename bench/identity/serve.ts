// The identity shop alone behind the real HTTP app, on a real database: what one process of a node does for resolvers.
// Tells its parent where it listens and which DIDs it knows something about.

import { openListener } from '../../packages/node/src/http/index.ts'
import { fundingClusters } from '../../packages/node/src/shops/attestations/index.ts'
import { allEvidence, operator } from '../../packages/node/src/shops/identity/identity.fixture.ts'
import { openIdentityShop } from '../../packages/node/src/shops/identity/index.ts'
import { createRpc } from '../../packages/till/src/chain/index.ts'
import { openMandates } from '../../packages/till/src/credit/mandates/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { base, openAlone } from '../sides/open-alone.ts'
import { serveShop } from '../sides/serve-shop.ts'

const knownWallets = 500
const paymentsEach = 20
const db = await openTestDatabase({ poolSize: 8 })
const listener = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
const noChain = createRpc([{ name: 'none', send: () => Promise.reject(new Error('no chain here')) }], {
  clock: systemClock,
})
const open = openIdentityShop({
  didMethod: 'x402',
  ports: { mandates: openMandates, fundingClusters, evidence: allEvidence },
})
const { shop, keyring } = await openAlone(listener, open, {
  database: db.database,
  rpcs: new Map([[base.caip2, noChain]]),
  payees: { pay_to: { [base.caip2]: operator }, custody: {} },
})

const walletOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as const
const wallets = Array.from({ length: knownWallets }, (_, index) => walletOf(index + 1))
// Half of it long ago and so rolled up, half just now and so read behind the books.
await db.database.query(
  `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
     fingerprint, revocable, owner, lease_until, claimed_at, head_block, settled_at, ended_at)
   select 'exact', 20000, 'bench_' || w.n || '_' || p.n, 'served', 'eip155:8453', 'eip155:8453/erc20:0xa', w.wallet, sha256(convert_to(w.n || ' ' || p.n, 'utf8')),
     $2, 'pay_to', 20000, 0, 'tokens.report', 'r', '\\x00', false, 1, p.at, p.at, 0, p.at, p.at
   from unnest($1::text[]) with ordinality w (wallet, n),
     lateral (select g as n, date_trunc('milliseconds', now()) - case when g % 2 = 0 then g * interval '1 day' else g * interval '1 millisecond' end as at
       from generate_series(1, $3::integer) g) p`,
  [wallets, operator, paymentsEach],
)
for (const job of shop.jobs ?? []) await job.work()
await serveShop(
  listener,
  shop.routes.map((route) => ({ ...route, next: '/' })),
  keyring,
)
process.send?.({ url: listener.url, dids: wallets.map((wallet) => `did:x402:${wallet}`) })
