import type { Address } from '@assay/protocol/address'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { arrivedInGap } from '../credit/credit-balance.ts'
import { systemClock } from '../kernel/clock.ts'
import { accounts, balanceOf, owedTo, payToPartOf, post, trialBalance } from '../ledger/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { decideReview, type ReviewDecision } from './decide-review.ts'
import { countReview, listReview } from './review-queue.ts'

const network = 'eip155:8453'
const sender: Address = `0x${'7'.repeat(40)}`
const db = await useTestDatabase()
beforeEach(async () => {
  await db.owner.query('delete from restore_gap')
  await db.owner.query(`update transfer set posted_as = 'withdrawal' where posted_as in ('review', 'gap')`)
})

let numbers = 0
type Arrived = { as?: 'review' | 'gap'; payee?: 'pay_to' | 'custody'; micro?: bigint; from?: Address; final?: boolean }

/** A transfer that was recorded and posted as reconciliation does it. */
async function arrive({ as = 'review', payee = 'custody', micro = 500n, ...more }: Arrived = {}): Promise<bigint> {
  numbers += 1
  const { rows } = await db.owner.query<{ id: bigint }>(
    `insert into transfer (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number, block_hash,
       final, posted_as, posted_for)
     values ($1::text, $1::text || '/erc20:0xa', sha256($2), 0, $3, 'us', $4, substring(sha256($2) for 32), 30, '', $5, $6, $7) returning id`,
    [network, Buffer.from(`review ${numbers}`), more.from ?? sender, micro, more.final ?? true, as, payee],
  )
  const id = rows[0]?.id ?? 0n
  const of = as === 'gap' ? accounts.restoreGap : accounts.unmatched
  const lines = [
    { account: accounts.onchain(network, payee), amount: micro },
    { account: of(network, payee), amount: -micro },
  ]
  await db.database.transaction((tx) =>
    post(tx, [{ reference: `arrived:${numbers}`, kind: 'unmatched', transfer: { id, turn: 0 }, lines }]),
  )
  return id
}

const decide = (transfer: bigint, decision: ReviewDecision = 'credit', note?: string) =>
  decideReview({ database: db.database, clock: systemClock }, { transfer, decision, by: 'ann', note })
const creditOf = (wallet: Address) => owedTo(db.database, accounts.credit(network, wallet))
const refused = (why: string) => ({ status: 'refused', why })

test('money in review becomes credit of its sender, once, and the audit log says by whom', async () => {
  const before = await creditOf(sender)
  const id = await arrive({ micro: 700n })
  expect((await listReview(db.database, 10)).map((row) => [row.id, row.inGap])).toEqual([[id, false]])
  expect(await decide(id, 'credit', 'ticket 12')).toEqual({ status: 'decided', network, sender, amountMicro: 700n })
  expect(await creditOf(sender)).toBe(before + 700n)
  expect(await balanceOf(db.database, accounts.unmatched(network, 'custody'))).toBe(0n)
  expect(await countReview(db.database, 10)).toBe(0)
  expect(await decide(id, 'revenue')).toEqual(refused('not_in_review'))
  const { rows } = await db.owner.query(
    `select actor, action, details->>'decision' as decision, details->>'note' as note from audit_log order by id desc limit 1`,
  )
  expect(rows).toEqual([{ actor: 'ann', action: 'review.decide', decision: 'credit', note: 'ticket 12' }])
})

test('what arrived at PAY_TO is credit that is paid out from there; a gift is revenue', async () => {
  const credit = accounts.credit(network, sender)
  const before = await payToPartOf(db.database, credit)
  await decide(await arrive({ payee: 'pay_to', micro: 300n }))
  expect(await payToPartOf(db.database, credit)).toBe(before + 300n)
  await decide(await arrive({ payee: 'pay_to', micro: 40n }), 'revenue')
  expect(await balanceOf(db.database, accounts.revenue(network, 'review'))).toBe(-40n)
  expect(await balanceOf(db.database, accounts.unmatched(network, 'pay_to'))).toBe(0n)
})

test('what came in the gap of a restore waits until the restore is over', async () => {
  const id = await arrive({ as: 'gap', micro: 900n })
  expect(await arrivedInGap(db.database, network, sender)).toBe(900n)
  const gap = (values: string) =>
    db.owner.query(
      `insert into restore_gap (network, reason, until_block, lapses_at, reconciled_at, lapsed_block) values ($1, 'test', 40, now(), ${values})`,
      [network],
    )
  for (const values of ['null, null', 'now(), null', 'null, 50']) {
    await db.owner.query('delete from restore_gap')
    await gap(values)
    expect(await decide(id)).toEqual(refused('restoring'))
  }
  await db.owner.query('delete from restore_gap')
  await gap('now(), 50')
  expect(await decide(id)).toMatchObject({ status: 'decided' })
  expect(await arrivedInGap(db.database, network, sender)).toBe(0n)
  expect(await balanceOf(db.database, accounts.restoreGap(network, 'custody'))).toBe(0n)
})

test('of two decisions at once one wins', async () => {
  const given = async () =>
    (await creditOf(sender)) - (await balanceOf(db.database, accounts.revenue(network, 'review')))
  const before = await given()
  const id = await arrive()
  const outcomes = await Promise.all([decide(id), decide(id, 'revenue'), decide(id)])
  expect(outcomes.filter(({ status }) => status === 'decided')).toHaveLength(1)
  expect(await given()).toBe(before + 500n)
})

test('what is not final, not in review or not there is not decided', async () => {
  expect(await decide(await arrive({ final: false }))).toEqual(refused('not_final'))
  expect(await decide(987_654_321n)).toEqual(refused('no_such_transfer'))
  const paid = await arrive()
  await db.owner.query(`update transfer set posted_as = 'payment' where id = $1`, [paid])
  expect(await decide(paid)).toEqual(refused('not_in_review'))
})

test('however transfers are decided, the books balance and each is one wallet’s credit or revenue', async () => {
  const wallet = fc.integer({ min: 1, max: 3 }).map((n): Address => `0x${n.toString(16).padStart(40, 'a')}`)
  const arrived = fc.record({
    as: fc.constantFrom('review' as const, 'gap' as const),
    payee: fc.constantFrom('pay_to' as const, 'custody' as const),
    micro: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    from: wallet,
    decisions: fc.array(fc.constantFrom<ReviewDecision>('credit', 'revenue'), { maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(arrived, { minLength: 1, maxLength: 6 }), async (transfers) => {
      const sums = async () => ({
        open: -(
          await Promise.all(
            (['pay_to', 'custody'] as const).flatMap((payee) => [
              balanceOf(db.database, accounts.unmatched(network, payee)),
              balanceOf(db.database, accounts.restoreGap(network, payee)),
            ]),
          )
        ).reduce((sum, one) => sum + one, 0n),
        revenue: -(await balanceOf(db.database, accounts.revenue(network, 'review'))),
        credit: (await Promise.all([1, 2, 3].map((n) => creditOf(`0x${n.toString(16).padStart(40, 'a')}`)))).reduce(
          (sum, one) => sum + one,
          0n,
        ),
      })
      const before = await sums()
      const due = { ...before }
      for (const { decisions, ...transfer } of transfers) {
        const id = await arrive(transfer)
        for (const decision of decisions) await decide(id, decision)
        due[decisions[0] ?? 'open'] += transfer.micro
      }
      expect(await sums()).toEqual(due)
      expect(Object.values((await trialBalance(db.database)).sumByUnit).every((sum) => sum === 0n)).toBe(true)
    }),
    { numRuns: 20 },
  )
})
