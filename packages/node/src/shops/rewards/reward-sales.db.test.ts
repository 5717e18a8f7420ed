import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { systemRng } from '@assay/till/kernel/random'
import {
  accounts,
  balanceDifferences,
  balanceOf,
  credit,
  debit,
  type LedgerTransaction,
  owedTo,
  post,
  trialBalance,
} from '@assay/till/ledger'
import { createTokenMaker } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterAll, expect, test } from 'vitest'
import { creatorAccounts } from '../attestations/accounts.ts'
import { refreshWeights } from '../sources/score/refresh-weights.ts'
import { rewardAccounts } from './accounts.ts'
import { matureShares } from './mature-shares.ts'
import { parseRewardsPolicy } from './policy.ts'
import { createRedeemPoints } from './redeem-points.ts'
import { reverseSale } from './reverse-sale.ts'
import { rewardSales } from './reward-sales.ts'
import { spending } from './spending-sql.ts'

const base = 'eip155:8453'
const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const own = wallet(0xaaaa)
const deps = { policy: parseRewardsPolicy({ affiliate_hold_days: 0 }, { demo: true }), ownPayees: new Set([own]) }
const db = await useTestDatabase({ poolSize: 12 })
afterAll(async () => {
  for (const sum of Object.values((await trialBalance(db.owner)).sumByUnit)) expect(sum).toBe(0n)
  expect(await balanceDifferences(db.owner)).toEqual([])
})

let number = 0
const sale = (payer: number, micro: bigint, changes: Partial<Sale> = {}): Sale => {
  number += 1
  return {
    paymentId: `call_${number}`,
    routeId: 'test.route',
    network: base,
    payer: wallet(payer),
    amountMicro: micro,
    payee: 'pay_to',
    attribution: {},
    reservation: null,
    provisional: false,
    transaction: '',
    settledAtMs: systemClock.nowMs() - 1_000,
    feeMicro: 0n,
    round: 0,
    source: 'payment',
    ...changes,
  }
}
const reward = (...sales: Sale[]) => db.database.transaction((tx) => rewardSales(deps, tx, sales))
const reverse = (one: Sale, micro = one.amountMicro, reason: 'reorg' | 'refund' = 'refund') =>
  db.database.transaction((tx) => reverseSale(tx, one, { reason, micro }))
const points = (n: number) => owedTo(db.database, rewardAccounts.points(wallet(n)))
const pending = (n: number) => owedTo(db.database, rewardAccounts.affiliatePending(base, wallet(n)))
const payable = (n: number) => owedTo(db.database, accounts.payable(base, wallet(n), 'affiliate'))
const referral = async (n: number) =>
  (
    await db.database.query<{ status: string; reason: string | null }>(
      `select status, reason from referral where wallet = $1`,
      [wallet(n)],
    )
  ).rows[0]

test('a batch of sales gives each payer its points at the tiers it passes', async () => {
  await reward(sale(1, 1_000_000n), sale(2, 20_000n), sale(1, 5_000_000n))
  expect(await points(1)).toBe(2_000n + 4n * 2_000n + 2_500n)
  expect(await points(2)).toBe(40n)
})

test('L12: a full refund brings points, referral and affiliate back to the state before', async () => {
  const one = sale(10, 100_000_000n, { attribution: { ref: wallet(11), aff: wallet(12) } })
  await reward(one)
  expect(await points(11)).toBe(10_000n)
  expect(await pending(12)).toBe((100_000_000n * 15n) / 100n)
  await reverse(one)
  await reverse(one)
  for (const n of [10, 11]) expect(await points(n)).toBe(0n)
  expect(await pending(12)).toBe(0n)
  expect(await referral(10)).toMatchObject({ status: 'reversed' })
  await reward(sale(10, 100_000_000n, { attribution: { ref: wallet(13) } }))
  expect(await referral(10)).toMatchObject({ status: 'counted' })
})

test('L11, L26: a part is reversed in proportion, and the rate of the sale stays', async () => {
  const one = sale(20, 10_000_000n, { attribution: { aff: wallet(21) } })
  await reward(one)
  const before = await points(20)
  await reverse(one, 2_500_000n)
  expect(await points(20)).toBe((before * 3n) / 4n)
  expect(await pending(21)).toBe((((10_000_000n * 15n) / 100n) * 3n) / 4n)
})

test('a share becomes payable from a final sale that nobody disputes and nobody refunds, and from no other', async () => {
  const one = sale(90, 10_000_000n, { attribution: { aff: wallet(91) } })
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final)
     values ('exact', 10000000, $1, 'served', $2, $4, $3, decode(repeat('4d', 32), 'hex'), $3, 'pay_to', 10000000, 0, 'test.route', '',
       sha256('x'), true, 0, now(), now(), 1, false)`,
    [one.paymentId, base, wallet(90), `${base}/erc20:${wallet(1)}`],
  )
  await reward(one)
  const mature = async () => {
    await matureShares({ database: db.database, clock: systemClock })
    return payable(91)
  }
  expect(await mature()).toBe(0n)
  await db.owner.query('update payment set final = true where id = $1', [one.paymentId])
  await db.owner.query(
    `insert into payment_dispute (id, payment_id, payer, text, opened_at) values ('dsp_1', $1, $2, 'it is wrong', now())`,
    [one.paymentId, wallet(90)],
  )
  expect(await mature()).toBe(0n)
  await db.owner.query(`update payment_dispute set state = 'rejected', decided_at = now(), decision = 'it is right'`)
  await db.owner.query(
    `insert into refund (payment_id, amount_micro, reason, requested_by) values ($1, 5000000, 'late', 'test')`,
    [one.paymentId],
  )
  expect(await mature()).toBe(0n)
  await reverse(one, 5_000_000n)
  await db.owner.query(`update refund set state = 'refused', outcome = 'test'`)
  expect(await mature()).toBe((5_000_000n * 15n) / 100n)
})

test('no share is payable while its sale can be disputed, whatever was sold', async () => {
  const usual = { ...deps, policy: parseRewardsPolicy() }
  const paidBefore = (days: number, aff: number, routeId: string) =>
    sale(92, 10_000_000n, {
      ...{ routeId, attribution: { aff: wallet(aff) } },
      settledAtMs: systemClock.nowMs() - days * 86_400_000 - 1_000,
    })
  const sales = [
    paidBefore(30, 93, 'tokens.report'),
    paidBefore(30, 94, 'subscriptions.standard'),
    paidBefore(31, 95, 'tokens.report'),
  ]
  await db.database.transaction((tx) => rewardSales(usual, tx, sales))
  await matureShares({ database: db.database, clock: systemClock })
  expect([await payable(93), await payable(94), await payable(95)]).toEqual([0n, 0n, 1_500_000n])
})

test('L13: what was used or paid out before its sale was reversed is owed, and set off against what comes next', async () => {
  const one = sale(30, 10_000_000n, { attribution: { aff: wallet(31) } })
  await reward(one)
  await matureShares({ database: db.database, clock: systemClock })
  const share = await payable(31)
  const earned = await points(30)
  await post(db.database, [
    {
      reference: 'spend:30',
      kind: 'redeem',
      lines: [debit(rewardAccounts.points(wallet(30)), earned), credit(rewardAccounts.pointsRedeemed(), earned)],
    },
    {
      reference: 'pay:31',
      kind: 'payout',
      lines: [
        debit(accounts.payable(base, wallet(31), 'affiliate'), share),
        credit(accounts.clearingPayouts(base), share),
      ],
    },
  ])
  await reverse(one)
  expect(await balanceOf(db.database, rewardAccounts.pointsReceivable(wallet(30)))).toBe(earned)
  expect(await balanceOf(db.database, accounts.receivable(base, wallet(31), 'affiliate'))).toBe(share)
  await reward(sale(30, 20_000_000n, { attribution: { aff: wallet(31) } }))
  await matureShares({ database: db.database, clock: systemClock })
  expect(await balanceOf(db.database, rewardAccounts.pointsReceivable(wallet(30)))).toBe(0n)
  expect(await balanceOf(db.database, accounts.receivable(base, wallet(31), 'affiliate'))).toBe(0n)
  expect(await payable(31)).toBe((20_000_000n * 15n) / 100n - share)
  await post(db.database, [
    {
      reference: 'pay:31:back',
      kind: 'payout',
      lines: [debit(accounts.clearingPayouts(base), share), credit(accounts.operator(base, 'usdc'), share)],
    },
  ])
})

test('L10: a redemption during the reversal never goes below zero; one of the two wins', async () => {
  const one = sale(40, 10_000_000n)
  await reward(one)
  const earned = await points(40)
  const spend = post(db.database, [
    {
      reference: 'spend:40',
      kind: 'redeem',
      lines: [debit(rewardAccounts.points(wallet(40)), earned), credit(rewardAccounts.pointsRedeemed(), earned)],
    },
  ])
  await Promise.allSettled([spend, reverse(one), reverse(one)])
  await reverse(one)
  expect(await points(40)).toBeGreaterThanOrEqual(0n)
  const net = (await points(40)) - (await balanceOf(db.database, rewardAccounts.pointsReceivable(wallet(40))))
  expect([0n, -earned]).toContain(net)
})

test('a pass that was not used goes with the points it was bought with; what it held beyond them stays the wallet’s', async () => {
  const one = sale(45, 10_000_000n)
  await reward(one, sale(45, 1_000_000n))
  const total = await points(45)
  const pull = deps.policy.rewards[1]
  if (!pull) throw new Error('no reward')
  const tokens = createTokenMaker(systemRng, 'apass')
  const ids = createIds(systemClock, systemRng)
  const redeem = createRedeemPoints({ ...deps, database: db.database, clock: systemClock, ids, tokens })
  const burned = total - (total % pull.points)
  const nonce = '45'.repeat(16)
  await redeem.redeem({ nonce, requestHash: Buffer.alloc(32), wallet: wallet(45), points: burned, reward: pull })
  await reverse(one)
  expect(await balanceOf(db.database, rewardAccounts.pointsReceivable(wallet(45)))).toBe(0n)
  expect(await points(45)).toBe(2_500n)
  const { rows } = await db.database.query<{ live: bigint }>(
    `select count(*) as live from pass where wallet = $1 and expires_at > now()`,
    [wallet(45)],
  )
  expect(rows[0]?.live).toBe(0n)
})

test('self, own payees and cycles do not count, and say why', async () => {
  await reward(sale(50, 1_000_000n, { attribution: { ref: wallet(50), aff: wallet(50) } }))
  expect(await referral(50)).toEqual({ status: 'ignored', reason: 'self' })
  expect(await pending(50)).toBe(0n)
  await reward(sale(51, 1_000_000n, { attribution: { ref: own, aff: own } }))
  expect(await referral(51)).toEqual({ status: 'ignored', reason: 'own_payee' })
  await reward(sale(52, 1_000_000n, { attribution: { ref: wallet(53) } }))
  await reward(sale(53, 1_000_000n, { attribution: { ref: wallet(54) } }))
  await reward(sale(54, 1_000_000n, { attribution: { ref: wallet(52) } }))
  expect(await referral(54)).toEqual({ status: 'ignored', reason: 'cycle' })
  await reward(sale(52, 1_000_000n, { attribution: { ref: wallet(55) } }))
  expect(await points(55)).toBe(0n)
})

test('the last affiliate counts on for 60 days from the first purchase', async () => {
  const dayMs = 86_400_000
  const atMs = systemClock.nowMs() - 100 * dayMs
  await reward(sale(60, 10_000_000n, { attribution: { aff: wallet(61) }, settledAtMs: atMs }))
  await reward(sale(60, 10_000_000n, { settledAtMs: atMs + 59 * dayMs }))
  await reward(sale(60, 10_000_000n, { settledAtMs: atMs + 61 * dayMs }))
  expect(await pending(61)).toBe(2n * ((10_000_000n * 15n) / 100n))
})

/** Of 5,000 the node keeps a tenth. */
const citationLines = [
  debit(creatorAccounts.distributor(base), 5_000n),
  credit(accounts.revenue(base, 'cite'), 500n),
  credit(accounts.payable(base, wallet(72), 'creator'), 4_500n),
]

test('a sale whose price is others’ money counts with what the node keeps: nothing for a top-up, the toll for a citation', async () => {
  const topUp = sale(70, 5_000_000n, { payee: 'custody', attribution: { aff: wallet(71) } })
  const cite = sale(70, 5_000n, { payee: 'custody', source: 'credit', attribution: { aff: wallet(71) } })
  await post(db.database, [
    {
      reference: 'cite',
      kind: 'sale',
      paymentId: cite.paymentId,
      lines: citationLines,
    },
  ])
  await reward(topUp, cite)
  expect(await pending(71)).toBe(500n)
  expect(await points(70)).toBe(0n)
})

test('what is posted with a sale counts like what was posted before it, and the rewards are one posting with it', async () => {
  const cite = sale(73, 5_000n, { payee: 'custody', attribution: { aff: wallet(74) } })
  const unposted: LedgerTransaction[] = [
    {
      reference: `sale:${cite.paymentId}`,
      kind: 'sale',
      paymentId: cite.paymentId,
      lines: citationLines,
    },
  ]
  await db.database.transaction((tx) => rewardSales(deps, tx, [cite], unposted))
  expect(unposted).toEqual([])
  expect(await pending(74)).toBe(500n)
  expect(await postingsOf('payment_id', cite.paymentId)).toEqual([{ reference: `sale:${cite.paymentId}`, lines: 5 }])
})

test('what several sales bring is one posting beside theirs, and one of them is reversed alone', async () => {
  const sold = [sale(0x81, 1_000_000n), sale(0x82, 2_000_000n), sale(0x81, 1_000_000n)].map((one) => ({
    ...one,
    attribution: { aff: wallet(0x83) },
  }))
  const unposted = sold.map(
    ({ paymentId, amountMicro }): LedgerTransaction => ({
      reference: `sale:${paymentId}`,
      kind: 'sale',
      paymentId,
      lines: [debit(creatorAccounts.distributor(base), amountMicro), credit(accounts.revenue(base, 'x'), amountMicro)],
    }),
  )
  await db.database.transaction((tx) => rewardSales(deps, tx, sold, unposted))
  const [first, second] = sold as [Sale, Sale]
  // Issued, of each wallet, expense and share.
  expect(await postingsOf('reference', `reward:${first.paymentId}#0`)).toEqual([
    { reference: `reward:${first.paymentId}#0`, lines: 5 },
  ])
  expect((await postingsOf('payment_id', ...sold.map(({ paymentId }) => paymentId))).map(({ lines }) => lines)).toEqual(
    [2, 2, 2],
  )
  expect([await points(0x81), await points(0x82), await pending(0x83)]).toEqual([4_000n, 4_000n, 600_000n])
  await reverse(second)
  expect([await points(0x81), await points(0x82), await pending(0x83)]).toEqual([4_000n, 0n, 300_000n])
})

test('the shares of one affiliate that mature together are one posting', async () => {
  const sold = [sale(75, 1_000_000n), sale(76, 2_000_000n), sale(77, 4_000_000n)]
  await reward(...sold.map((one, n) => ({ ...one, attribution: { aff: wallet(n === 2 ? 79 : 78) } })))
  await matureShares({ database: db.database, clock: systemClock })
  expect([await pending(78), await payable(78)]).toEqual([0n, 450_000n])
  expect([await pending(79), await payable(79)]).toEqual([0n, 600_000n])
  const names = sold.map(({ paymentId }) => `affiliate_matured:${paymentId}#0`)
  expect(await postingsOf('reference', ...names)).toEqual([
    { reference: names[0], lines: 2 },
    { reference: names[2], lines: 2 },
  ])
})

const postingsOf = async (column: 'payment_id' | 'reference', ...values: string[]) =>
  (
    await db.database.query<{ reference: string; lines: number }>(
      `select t.reference, (select count(*)::int from ledger_entry e where e.transaction_id = t.id) as lines
       from ledger_transaction t where t.${column} = any($1) order by t.id`,
      [values],
    )
  ).rows

test('what a wallet spent gives it weight before its payments are final, and what it got back takes it away', async () => {
  const one = sale(0x95, 400_000_000n)
  await db.database.query(
    `insert into citing_agent (agent, cluster, first_seen_at) values ($1, $1, now() - interval '2 years')`,
    [wallet(0x95)],
  )
  const weight = async () => {
    await db.database.transaction((tx) => refreshWeights(tx, new Date(), undefined, spending.microSql))
    const found = await db.database.query<{ weight: number }>('select weight from citing_agent where agent = $1', [
      wallet(0x95),
    ])
    return found.rows[0]?.weight
  }
  expect(await weight()).toBe(0)
  await reward(one)
  expect(await weight()).toBeCloseTo(0.4 ** 1.5, 9)
  await reverse(one, 100_000_000n)
  expect(await weight()).toBeCloseTo(0.3 ** 1.5, 9)
  const other = sale(0x95, 100_000_000n)
  await reward(other)
  expect(await weight()).toBeCloseTo(0.4 ** 1.5, 9)
  await reverse(other, other.amountMicro, 'reorg')
  expect(await weight()).toBeCloseTo(0.3 ** 1.5, 9)
})
