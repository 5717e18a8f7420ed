// The identity shop alone behind the real HTTP app, on a real database: what one process of a node does for resolvers.
// Tells its parent where it listens and which DIDs it knows something about.

import { openListener } from '../../packages/node/src/http/index.ts'
import { fundingClusters } from '../../packages/node/src/shops/attestations/index.ts'
import { allEvidence, operator } from '../../packages/node/src/shops/identity/identity.fixture.ts'
import { openIdentityShop } from '../../packages/node/src/shops/identity/index.ts'
import type { ShopContext } from '../../packages/node/src/shops/shop.ts'
import { createRpc, knownNetworks, type Network } from '../../packages/till/src/chain/index.ts'
import { openMandates } from '../../packages/till/src/credit/mandates/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createFixedKeyring, createJwsSigner, generateSigningKey } from '../../packages/till/src/signing/index.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { serveShop } from '../sides/serve-shop.ts'

const knownWallets = 500
const paymentsEach = 20
const db = await openTestDatabase({ poolSize: 8 })
const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
const listener = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
const [base, polygon] = [8453, 137].map((id) => knownNetworks.find((one) => one.chainId === id) as Network)
const jws = createJwsSigner(keyring, { authority: new URL(listener.url).host, clock: systemClock })
const noChain = createRpc([{ name: 'none', send: () => Promise.reject(new Error('no chain here')) }], {
  clock: systemClock,
})
const shop = await openIdentityShop({
  didMethod: 'x402',
  ports: { mandates: openMandates, fundingClusters, evidence: allEvidence },
})({
  mode: 'demo',
  baseUrl: listener.url,
  apiUrl: listener.url,
  base,
  polygon,
  rpcs: new Map([['eip155:8453', noChain]]),
  payees: { pay_to: { 'eip155:8453': operator }, custody: {} },
  database: db.database,
  keyring,
  jws: { sign: (payload: unknown) => jws.sign(JSON.stringify(payload)), verify: () => undefined },
  proofs: {},
  clock: systemClock,
  log: silentLog,
} as unknown as ShopContext)

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
