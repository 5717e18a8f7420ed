import type { Address } from '@assay/protocol/address'
import { beforeEach, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, credit, debit, type LedgerTransaction, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { rowsRead } from '../store/rows-read.fixture.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { collectDue } from './collect-due.ts'
import { declarePurpose } from './payouts.fixture.ts'
import { parsePayoutPolicy } from './policy.ts'
import { prepareDue } from './purposes.ts'

const network = 'eip155:8453'
const purpose = 'share'
const ids = createIds(systemClock, systemRng)
const db = await useTestDatabase()
await declarePurpose(db, purpose)
beforeEach(() => db.owner.query('delete from payout_due'))

const deps = (database: Database = db.database) => ({
  database,
  clock: systemClock,
  ids,
  log: silentLog,
  metrics: silentMetrics,
  policy: parsePayoutPolicy({ minimum_usd: '10' }),
})
const collect = (minimumMicro?: bigint) =>
  collectDue(deps(), network, { purpose, ...(minimumMicro === undefined ? {} : { minimumMicro }) })

let last = 0
const newPayee = (): Address => `0x${(++last).toString(16).padStart(40, '0')}`

const owing = (payee: Address, micro: bigint, of = purpose): LedgerTransaction => ({
  reference: ids.next('owe'),
  kind: 'opening',
  lines: [debit(accounts.onchain(network, 'custody'), micro), credit(accounts.payable(network, payee, of), micro)],
})
const owe = (payee: Address, micro: bigint, of?: string) => post(db.database, [owing(payee, micro, of)])
const listed = async () => (await db.database.query('select from payout_due')).rowCount
const payoutsTo = async (payee: Address) =>
  (await db.database.query<{ micro: bigint }>('select amount_micro as micro from payout where payee = $1', [payee]))
    .rows

test('a share is listed when it grows, paid once it reaches the minimum, and asked about again only when it grows', async () => {
  const payee = newPayee()
  await owe(payee, 4_000_000n)
  expect([await listed(), await collect(), await listed()]).toEqual([1, 1, 0])
  expect([await collect(), await payoutsTo(payee)]).toEqual([0, []])
  await owe(payee, 7_000_000n)
  expect([await listed(), await collect(), await listed()]).toEqual([1, 1, 0])
  expect(await payoutsTo(payee)).toEqual([{ micro: 11_000_000n }])
})

test('what grows while a payout is under way, or while its payee is held, stays listed', async () => {
  const [busy, held] = [newPayee(), newPayee()]
  await owe(busy, 20_000_000n)
  await collect()
  await owe(busy, 30_000_000n)
  await owe(held, 20_000_000n)
  await db.owner.query(`insert into payout_hold (network, payee, reason, held_by) values ($1, $2, 'test', 'test')`, [
    network,
    held,
  ])
  expect([await collect(), await listed()]).toEqual([0, 2])
  await db.owner.query(`update payout set state = 'paid', spent = true where payee = $1`, [busy])
  await db.owner.query('delete from payout_hold')
  expect([await collect(), await listed()]).toEqual([2, 0])
  expect((await payoutsTo(busy)).map(({ micro }) => micro)).toEqual([20_000_000n, 30_000_000n])
})

test('shares that were below an earlier minimum are checked again when payouts are opened', async () => {
  const payee = newPayee()
  await owe(payee, 4_000_000n)
  await collect()
  expect(await collect(1_000_000n)).toBe(0)
  await prepareDue(db.database, [{ purpose }], { minimumMicro: 5_000_000n })
  expect(await listed()).toBe(1)
  await collect(5_000_000n)
  await prepareDue(db.database, [{ purpose }], { minimumMicro: 5_000_000n })
  expect(await listed()).toBe(0)
  await prepareDue(db.database, [{ purpose }], { minimumMicro: 1_000_000n })
  await collect(1_000_000n)
  expect(await payoutsTo(payee)).toEqual([{ micro: 4_000_000n }])
})

test('what no purpose pays out is never listed, and a purpose that the books do not know stops the start', async () => {
  await owe(newPayee(), 20_000_000n, 'creator_accrued.3')
  await owe(newPayee(), 20_000_000n, 'unheard_of')
  expect(await listed()).toBe(0)
  await expect(prepareDue(db.database, [{ purpose }, { purpose: 'unheard_of' }], { minimumMicro: 1n })).rejects.toThrow(
    'unheard_of',
  )
})

test('a share that comes while its payee is checked is not lost', async () => {
  const payee = newPayee()
  await owe(payee, 4_000_000n)
  let posting: Promise<unknown> | undefined
  const waiting = async () => {
    const { rowCount } = await db.owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rowCount > 0
  }
  const meddle = (tx: Tx): Tx => ({
    ...tx,
    query: (async (...given: Parameters<Tx['query']>) => {
      if (String(given[0]).startsWith('delete from payout_due')) {
        let posted = false
        posting = owe(payee, 7_000_000n).then(() => {
          posted = true
        })
        await expect.poll(async () => posted || (await waiting())).toBe(true)
      }
      return tx.query(...given)
    }) as Tx['query'],
  })
  const transaction = ((work: (tx: Tx) => Promise<unknown>) =>
    db.database.transaction((tx) => work(meddle(tx)))) as Database['transaction']
  await collectDue(deps({ ...db.database, transaction }), network, { purpose })
  await posting
  await collect()
  expect(await payoutsTo(payee)).toEqual([{ micro: 11_000_000n }])
})

test('a round reads as much however many payees there are', async () => {
  const addPayees = async (count: number) => {
    await post(
      db.database,
      Array.from({ length: count }, () => owing(newPayee(), 1_000_000n)),
    )
    while ((await listed()) > 0) await collect()
    await db.owner.query('analyze ledger_account, ledger_balance, payout_due')
  }
  const round = () => rowsRead(db.database, (database) => collectDue(deps(database), network, { purpose }))
  await addPayees(30)
  const few = await round()
  await addPayees(400)
  expect(await round()).toBeLessThanOrEqual(few)
})

test('what a wallet paid in recently and gets back leaves the daily limit to those who won', async () => {
  const policy = parsePayoutPolicy({ minimum_usd: '1', daily_limit_usd: '100' })
  const give = (of: string) =>
    collectDue({ ...deps(), policy }, network, { purpose: of, minimumMicro: 1n, paidInBy: ['game.enter', 'game.play'] })
  const rows = async (payee: Address) =>
    (
      await db.database.query(
        'select amount_micro as paid, uncounted_micro as free, state from payout where payee = $1 order by n',
        [payee],
      )
    ).rows
  const payee = newPayee()
  await paidIn(payee, 300_000_000n, 'game.enter')
  await paidIn(payee, 50_000_000n, 'another.route')
  await paidIn(payee, 60_000_000n, 'game.play', { final: false })
  await paidIn(payee, 70_000_000n, 'game.play', { refunded: true })
  await paidIn(payee, 80_000_000n, 'game.play', { days: 31 })
  await db.owner.query(
    `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, state, held_at, expires_at, ended_at)
     values ($1, 'credit', $2, $3, 20000000, 'game.play', '', true, 'captured', now(), now(), now())`,
    [ids.next('call'), payee, network],
  )
  await owe(payee, 310_000_000n)
  await give(purpose)
  await db.owner.query(`update payout set state = 'paid', spent = true where payee = $1`, [payee])
  await owe(payee, 30_000_000n)
  await give(purpose)
  expect(await rows(payee)).toEqual([
    { paid: 310_000_000n, free: 310_000_000n, state: 'paid' },
    { paid: 30_000_000n, free: 10_000_000n, state: 'queued' },
  ])
})

type PaidIn = { final?: boolean; refunded?: boolean; days?: number }
async function paidIn(payer: Address, micro: bigint, route: string, { final = true, refunded, days = 0 }: PaidIn = {}) {
  const id = ids.next('pay')
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before,
       route_id, resource, fingerprint, revocable, owner, lease_until, claimed_at, ended_at, head_block, final)
     values ('exact', $2, $1, 'served', $3, $3 || '/erc20:0x00000000000000000000000000000000000000dc', $4, sha256($1::text::bytea), '', 'custody', $2, 0, $5, '', sha256($1::text::bytea), true, 0,
       now(), now(), now() - make_interval(days => $6), 1, $7)`,
    [id, micro, network, payer, route, days, final],
  )
  if (refunded)
    await db.owner.query(
      `insert into refund (payment_id, amount_micro, reason, requested_by) values ($1, $2, 'test', 'test')`,
      [id, micro],
    )
}
