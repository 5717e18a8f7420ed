import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { sha256 } from '@assay/till/kernel/bytes'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { systemRng } from '@assay/till/kernel/random'
import { accounts, balanceDifferences, balanceOf, credit, debit, owedTo, post, trialBalance } from '@assay/till/ledger'
import { createTokenMaker } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { creatorAccounts } from '../attestations/accounts.ts'
import { rewardAccounts } from './accounts.ts'
import { matureShares } from './mature-shares.ts'
import { milliPointWorth, parseRewardsPolicy, type Reward } from './policy.ts'
import { createRedeemPoints } from './redeem-points.ts'
import { reverseSale } from './reverse-sale.ts'
import { rewardSales } from './reward-sales.ts'

/**
 * One person behind four wallets buys, refers, affiliates, redeems, uses passes, is paid and asks for refunds, in any
 * order, on the real books. Whatever it does, it never has more than it paid for.
 */
const network = 'eip155:8453'
const policy = parseRewardsPolicy({ affiliate_hold_days: 0 }, { demo: true })
const pull = policy.rewards.find(({ id }) => id === 'pull') as Reward
const db = await useTestDatabase()
const tokens = createTokenMaker(systemRng, 'apass')
const ids = createIds(systemClock, systemRng)
const redeem = createRedeemPoints({ database: db.database, clock: systemClock, ids, tokens, policy })
afterAll(async () => {
  for (const sum of Object.values((await trialBalance(db.owner)).sumByUnit)) expect(sum).toBe(0n)
  expect(await balanceDifferences(db.owner)).toEqual([])
})

const who = fc.nat({ max: 3 })
const anyStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('buy' as const),
      by: who,
      micro: fc.oneof(fc.bigInt({ min: 1n, max: 5_000n }), fc.bigInt({ min: 50_000n, max: 1_000_000_000n })),
      ref: fc.option(who, { nil: undefined }),
      aff: fc.option(who, { nil: undefined }),
    }),
  },
  fc.record({ kind: fc.constant('redeem' as const), by: who, calls: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('use' as const), by: who, calls: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('refund' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('pay' as const) }),
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

let number = 0

/** `gained`: used calls and affiliate money on chain, which nobody can reverse. */
type Person = { wallets: Address[]; sales: Sale[]; gained: bigint }

function newPerson(): Person {
  number += 1
  const wallets = [0, 1, 2, 3].map((n) => `0x${(number * 16 + n).toString(16).padStart(40, '0')}` as Address)
  return { wallets, sales: [], gained: 0n }
}

async function act(person: Person, step: Step): Promise<void> {
  const walletOf = (n: number) => person.wallets[n] as Address
  if (step.kind === 'buy') {
    const { by, micro, ref, aff } = step
    const sale = saleOf(walletOf(by), micro, {
      ...(ref === undefined ? {} : { ref: walletOf(ref) }),
      ...(aff === undefined ? {} : { aff: walletOf(aff) }),
    })
    await db.database.transaction((tx) => rewardSales({ policy, ownPayees: new Set() }, tx, [sale]))
    person.sales.push(sale)
  } else if (step.kind === 'redeem') {
    const nonce = Buffer.from(systemRng.bytes(16)).toString('hex')
    const points = pull.points * BigInt(step.calls)
    await redeem.redeem({ nonce, requestHash: sha256(nonce), wallet: walletOf(step.by), points, reward: pull })
  } else if (step.kind === 'use') {
    const { rows } = await db.owner.query<{ n: bigint }>(
      `with used as (update pass p set used = least(o.calls, o.used + $2) from pass o
         where p.id = o.id and p.wallet = $1 and p.expires_at > now() returning p.used - o.used as n)
       select coalesce(sum(n), 0)::bigint as n from used`,
      [walletOf(step.by), step.calls],
    )
    person.gained += (rows[0]?.n ?? 0n) * pull.maxPriceMicro
  } else if (step.kind === 'refund') {
    const [sale] = person.sales.splice(step.pick % Math.max(1, person.sales.length), 1)
    if (sale)
      await db.database.transaction((tx) => reverseSale(tx, sale, { reason: 'refund', micro: sale.amountMicro }))
  } else await payAffiliates(person)
}

async function payAffiliates(person: Person): Promise<void> {
  await matureShares({ database: db.database, clock: systemClock })
  for (const wallet of person.wallets) {
    const payable = accounts.payable(network, wallet, 'affiliate')
    const owed = await owedTo(db.database, payable)
    if (owed === 0n) continue
    number += 1
    const lines = [debit(payable, owed), credit(creatorAccounts.distributor(network), owed)]
    await post(db.database, [{ reference: `paid:${number}`, kind: 'paid_out', lines }])
    person.gained += owed
  }
}

function saleOf(payer: Address, amountMicro: bigint, attribution: Sale['attribution']): Sale {
  number += 1
  return {
    paymentId: `call_${number}`,
    routeId: 'test.route',
    network,
    payer,
    amountMicro,
    payee: 'pay_to',
    attribution,
    reservation: null,
    provisional: false,
    transaction: '',
    settledAtMs: systemClock.nowMs() - 1_000,
    feeMicro: 0n,
    round: 0,
    source: 'payment',
  }
}

/** What is owed counts for the seller, because nothing new can be used before it is paid: nobody has and owes at once. */
async function expectNoGain(person: Person): Promise<void> {
  const sql = db.database
  let debtMicro = 0n
  for (const wallet of person.wallets) {
    const owedPoints = await balanceOf(sql, rewardAccounts.pointsReceivable(wallet))
    const owedMicro = await balanceOf(sql, accounts.receivable(network, wallet, 'affiliate'))
    if (owedPoints > 0n) expect(await owedTo(sql, rewardAccounts.points(wallet)), 'has points and owes points').toBe(0n)
    if (owedMicro > 0n)
      expect(await owedTo(sql, accounts.payable(network, wallet, 'affiliate')), 'has a share and owes one').toBe(0n)
    debtMicro += owedMicro + (owedPoints * milliPointWorth(policy)) / 1_000n
  }
  const unreversed = person.sales.reduce((sum, sale) => sum + sale.amountMicro, 0n)
  expect(person.gained - debtMicro).toBeLessThanOrEqual(unreversed)
}

test('rule 4, L34: no order of buying, referring, redeeming, using, being paid and refunding has a positive sum', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 18 }), async (steps) => {
      const person = newPerson()
      for (const step of steps) {
        await act(person, step)
        await expectNoGain(person)
      }
    }),
    { numRuns: Number(process.env['CYCLE_RUNS'] ?? 10) },
  )
}, 120_000)

test('a referrer that used points of a refunded referral pays them back with its next referral', async () => {
  const person = newPerson()
  const buy = (by: number): Step => ({ kind: 'buy', by, micro: 250_000_000n, ref: 0, aff: undefined })
  for (const step of [
    buy(1),
    { kind: 'redeem', by: 0, calls: 10 },
    { kind: 'use', by: 0, calls: 10 },
    { kind: 'refund', pick: 0 },
    buy(2),
  ] satisfies Step[])
    await act(person, step)
  expect(await owedTo(db.database, rewardAccounts.points(person.wallets[0] as Address))).toBe(0n)
  expect(await balanceOf(db.database, rewardAccounts.pointsReceivable(person.wallets[0] as Address))).toBe(0n)
})
