import type { Address } from '@assay/protocol/address'
import { openPayments, readCredit } from '../credit/credit-balance.ts'
import { recentlyPaidIn } from '../credit/recently-paid-in.ts'
import { deleteHolders } from '../facilitators/index.ts'
import { sampleClaim } from '../gate/claim.fixture.ts'
import { sendersWithClaims } from '../gate/dust.ts'
import { createExposure } from '../gate/exposure.ts'
import { readPaymentStatus } from '../gate/payment-status.ts'
import { findConflict } from '../gate/store-advance.ts'
import { insertClaims } from '../gate/store-claim.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import {
  type Account,
  accounts,
  balanceOf,
  entriesOf,
  owedTo,
  post,
  sealBooks,
  turnoverByDay,
} from '../ledger/index.ts'
import { collectDue } from '../payouts/collect-due.ts'
import { parsePayoutPolicy } from '../payouts/policy.ts'
import { prepareDue } from '../payouts/purposes.ts'
import { executeRefunds } from '../refunds/refund-payment.ts'
import { purgeNonces } from '../store/nonce-claims.ts'
import type { TestDatabase } from '../store/testing.ts'
import { creditUndelivered } from './credit-undelivered.ts'
import { repairInFlightCounts } from './recover.ts'
import { removeIdle } from './remove-idle.ts'
import { expectedOnChain } from './store-reconcile.ts'
import { abandonedPayments, notFinalUpTo, paymentsIn, watchedPayments } from './store-recover.ts'

const network = 'eip155:8453'
const wallet: Address = `0x${'7'.repeat(40)}`
const payTo: Address = `0x${'b'.repeat(40)}`
const ids = createIds(systemClock, systemRng)
const deps = { clock: systemClock, ids, log: silentLog, metrics: silentMetrics, policy: parsePayoutPolicy() }

/** Sales of the past, all of one wallet, final and sealed, each with a share that was paid out. */
export async function addHistory(db: TestDatabase, from: number, count: number): Promise<void> {
  const values = [from, from + count - 1, wallet, network, payTo]
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica; set local statement_timeout = 0')
    await tx.query(
      `with sale as (select n, first_id_at('pay', now() - n * interval '1 second' - interval '2 days') || lpad(n::text, 17, '0') as id,
         now() - n * interval '1 second' - interval '2 days' as at, ('0x' || lpad(to_hex(n), 64, '0')) as hash,
         decode(lpad(to_hex(n), 64, '0'), 'hex') as key from generate_series($1::integer, $2::integer) n),
       claimed as (insert into claim (payer, network, payment_key, payment_id) select $3::text, $4::text, key, id from sale),
       moved as (insert into transfer (network, asset, transaction, position, sender, recipient, amount_micro, payment_key,
           block_number, block_hash, posted_as, posted_for, posted_at, final)
         select $4::text, $4::text || '/erc20:0xa', hash, 0, $3::text, $5::text, 5000, key, 1, hash, 'sale', id, at, true from sale)
       insert into payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro,
         valid_before, route_id, resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, transaction,
         block_number, block_hash, log_position, final, settled_at, ended_at, delivered_at)
       select id, 'served', $4::text, $4::text || '/erc20:0xa', $3::text, 'exact', key, $5::text, 'pay_to', 5000, 5000, 1, 'test.route', '', '\\x00', false,
         1, at, at, 1, hash, 1, hash, 0, true, at, at, at from sale`,
      values,
    )
    await tx.query(
      `with made as (insert into ledger_transaction (id, reference, kind, payment_id)
         select floor(extract(epoch from now() - n * interval '1 second' - interval '2 days'))::bigint << 31 | n, 'past:' || n, 'sale',
           first_id_at('pay', now() - n * interval '1 second' - interval '2 days') || lpad(n::text, 17, '0')
         from generate_series($1::integer, $2::integer) n returning id),
       lines as (insert into ledger_entry (transaction_id, line, account_id, amount_micro)
         select m.id, l.line, (select a.id from ledger_account a where a.name = l.name), l.micro
         from made m, unnest($3::text[], $4::bigint[]) with ordinality l (name, micro, line) returning account_id, amount_micro)
       insert into books_rollup_account as f (account_id, balance_micro) select account_id, sum(amount_micro) from lines group by 1
       on conflict (account_id) do update set balance_micro = f.balance_micro + excluded.balance_micro`,
      [from, from + count - 1, names.map(({ name }) => name), [5_000n, -5_000n, 700n, -700n, 700n, -700n]],
    )
  })
  await db.owner.query('analyze')
}

const share = accounts.payable(network, wallet, 'refund')
const debt = accounts.receivable(network, wallet, 'credit')
const opened = [accounts.onchain(network, 'pay_to'), accounts.revenue(network, 'test.route'), share, debt]
const names = [...opened.slice(0, 2), share, share, debt, debt]

/** Blocks of tables and indexes that the one connection of this database asked for, the second time it does this. */
export async function blocksOf(db: TestDatabase, work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await db.database.query('select pg_stat_force_next_flush()')
    const { rows } = await db.database.query<{ blocks: string }>(
      `select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::text as blocks
       from pg_statio_user_tables`,
    )
    return Number(rows[0]?.blocks)
  }
  await work()
  const before = await read()
  await work()
  return (await read()) - before
}

const worker = () => ({ owner: 1n, nowMs: Date.now(), leaseMs: 60_000 })
let next = 1_000_000
const newClaim = () => ({ ...sampleClaim(next++), id: ids.next('pay'), payer: wallet, balanceMicro: 1_000_000_000n })
const routeOf = () => undefined

/** What jobs and routes ask for again and again. */
export const readsOf = (db: TestDatabase): Record<string, () => Promise<unknown>> => ({
  'what the books expect on chain': () => expectedOnChain(db.database, network, 'pay_to', [payTo]),
  'a balance of income': () => balanceOf(db.database, accounts.revenue(network, 'test.route')),
  'a debt of one wallet': () => owedTo(db.database, accounts.receivable(network, wallet, 'credit')),
  'payments whose outcome is unknown': () => paymentsIn(db.database, 'unknown', '', 16),
  'payments that were abandoned': () => abandonedPayments(db.database, 500),
  'payments that are watched': () => watchedPayments(db.database, network, 4_000_000_000, 500),
  'payments that are not final': () => notFinalUpTo(db.database, network, 10n, 500),
  'counts of payments in flight': () => repairInFlightCounts({ database: db.database, log: silentLog }),
  'value that is not final': () =>
    createExposure(db.database, systemClock, 1n).admit({ payer: wallet, amountMicro: 1n, revocable: false }),
  'answers that were not delivered': () => creditUndelivered({ database: db.database, ...deps, reversalHooks: [] }),
  'rows that say nothing any more': () => removeIdle(db.database, Date.now()),
  'payments of a wallet that can still change': () => openPayments(db.database, network, wallet),
  'credit of a wallet': () => readCredit(db.database, network, wallet),
  'money that a wallet paid in recently': () =>
    recentlyPaidIn(db.database, network, wallet, Date.now() + 60 * 86_400_000),
  'senders with a claim': () => sendersWithClaims(db.database, network, [wallet]),
  'an earlier payment': () => findConflict(db.database, { ...newClaim(), identifierHash: Buffer.alloc(32, 1) }),
  'shares that are due': async () => {
    await db.database.query(
      'insert into payout_due select id from ledger_account where name = $1 on conflict do nothing',
      [share.name],
    )
    const found = await collectDue({ database: db.database, ...deps }, network, { purpose: 'refund' })
    if (found !== 1) throw new Error(`${found} shares are due`)
  },
  'shares below an earlier minimum': () => prepareDue(db.database, [{ purpose: 'refund' }], { minimumMicro: 5n }),
  'a claim of a wallet': () => insertClaims(db.database, [newClaim()], worker()),
  'postings to be sealed': () => sealBooks(db.database),
  'refunds that were asked for': () => executeRefunds({ database: db.database, ...deps, routeOf, reversalHooks: [] }),
  'nonces whose time is over': () => purgeNonces(db.database, Date.now()),
  'payments with several facilitators': () => deleteHolders(db.database, Date.now()),
  'the status of a payment': () => readPaymentStatus(db.database, ids.next('pay')),
  'the newest entries of an account': () => entriesOf(db.database, share, { limit: 50 }),
  'turnover of a week': () => turnoverByDay(db.database, daysAgo(7), daysAgo(0)),
})

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/** The accounts that the history is posted on. */
export async function openBooks(db: TestDatabase): Promise<void> {
  const lines = [10n, -10n, -20n, 20n].map((amount, place) => ({ account: opened[place] as Account, amount }))
  await post(db.database, [{ reference: 'open', kind: 'opening', lines }])
  await sealBooks(db.database)
}

/** Those of the second count that grew with the history. */
export const grownReads = (small: Record<string, number>, large: Record<string, number>): string[] =>
  Object.entries(large).flatMap(([name, blocks]) =>
    blocks > 2 * (small[name] ?? 0) + 20 ? [`${name}: ${small[name]} blocks, ${blocks} with the longer past`] : [],
  )

export async function countReads(db: TestDatabase): Promise<Record<string, number>> {
  const counted: Record<string, number> = {}
  for (const [name, work] of Object.entries(readsOf(db))) counted[name] = await blocksOf(db, work)
  return counted
}
