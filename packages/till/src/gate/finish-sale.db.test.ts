import type { Address } from '@assay/protocol/address'
import { beforeEach, expect, test } from 'vitest'
import type { AnswerContent, CommitMany, Sale, SaleHook } from '../contract/paid-call.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { accounts, addPostings, balanceDifferences, openClearing, owedTo, post, trialBalance } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { createFinishSales, type FinishInput, SaleImpossible } from './finish-sale.ts'
import { readAnswer, writeIntents } from './store-advance.ts'
import { insertClaims } from './store-claim.ts'

const network = 'eip155:8453'
const creator: Address = `0x${'c'.repeat(40)}`
const payerAt = (n: number): Address => `0x${(n + 1).toString(16).padStart(40, '0')}`
const worker = { owner: 1n, nowMs: Date.now(), leaseMs: 60_000 }
let made = 0
let batches: number[] = []
let hooked: number[] = []
let credited: string[] = []

const db = await useTestDatabase()
beforeEach(() => {
  batches = []
  hooked = []
  credited = []
})

const finishSales = (hooks: readonly SaleHook[] = []) =>
  createFinishSales({
    database: db.database,
    clock: systemClock,
    log: silentLog,
    jws: { sign: () => 'e30.e30.e30' } as never,
    hooks: [
      async (_tx, sales) => {
        hooked.push(sales.length)
      },
      ...hooks,
    ],
    failPosted: async ({ id }) => {
      throw new Error(`the transfer of ${id} was posted before`)
    },
    credit: async (claim) => {
      credited.push(claim.id)
    },
  })

/** Money that has just been settled, for a route whose effect is `commitMany`. */
async function settled(commitMany: CommitMany, reservation: string): Promise<FinishInput> {
  made += 1
  const number = made
  const id = `pay_${number}`
  const claim = { ...sampleClaim(number), payer: payerAt(number), payee: 'custody' as const, routeId: 'test.many' }
  await insertClaims(db.database, [claim], worker)
  const answer = { status: 200, contentType: 'application/json', headers: {}, body: Buffer.from('{}') }
  await writeIntents(
    db.database,
    [{ id, chargeMicro: 5_000n, ...answer, reservation, attempt: 1, leaseMs: 60_000 }],
    worker,
  )
  return {
    claim,
    evidence: {
      status: 'confirmed',
      transaction: `0x${number.toString(16).padStart(64, '0')}`,
      blockNumber: 2n,
      blockHash: `0x${'d'.repeat(64)}`,
      position: 0,
      gasGwei: 0n,
    },
    feeMicro: 0n,
    gasGwei: 0n,
    reservation,
    hold: false,
    provisional: false,
    commit: async (tx, sale) => (await commitMany(tx, [sale], []))[0],
    commitMany,
  }
}

/** Pays each creator 4500 of 5000, and fails as the reservation of a sale says. */
const commitMany: CommitMany = async (tx: Tx, sales: readonly Sale[]) => {
  batches.push(sales.length)
  for (const { reservation } of sales) {
    if (reservation === 'impossible') throw new SaleImpossible('sold out')
    if (reservation === 'broken') throw new Error('the effect is broken')
  }
  await post(
    tx,
    sales.map((sale) => ({
      reference: `split:${sale.paymentId}`,
      kind: 'split',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(network), amount: sale.reservation === 'forgetful' ? 4_900n : 5_000n },
        { account: accounts.revenue(network, sale.routeId), amount: sale.reservation === 'forgetful' ? -400n : -500n },
        { account: accounts.payable(network, creator, 'creator'), amount: -4_500n },
      ],
    })),
  )
  return sales.map(
    ({ paymentId }): AnswerContent => ({ status: 200, contentType: 'text/plain', body: `stamped ${paymentId}` }),
  )
}

const statesOf = async (inputs: readonly FinishInput[]) => {
  const { rows } = await db.database.query<{ id: string; state: string }>(
    'select id, state from payment where id = any($1)',
    [inputs.map(({ claim }) => claim.id)],
  )
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  return inputs.map(({ claim }) => states.get(claim.id))
}

async function expectSoundBooks(): Promise<void> {
  const { sumByUnit } = await trialBalance(db.database)
  expect(Object.values(sumByUnit).every((sum) => sum === 0n)).toBe(true)
  expect(await openClearing(db.database)).toEqual([])
  expect(await balanceDifferences(db.database)).toEqual([])
}

test('a sale says itself whether it had an effect: who asks later may not know its route', async () => {
  const plain = await settled(commitMany, 'fine')
  const without = {
    ...plain,
    claim: { ...plain.claim, payee: 'pay_to' as const },
    commit: undefined,
    commitMany: undefined,
  }
  const inputs = [await settled(commitMany, 'fine'), without]
  for (const input of inputs) expect(await finishSales().finish(input)).toMatchObject({ status: 'served' })
  const { rows } = await db.owner.query<{ id: string; had_effect: boolean }>('select id, had_effect from payment')
  const hadEffect = new Map(rows.map((row) => [row.id, row.had_effect]))
  expect(inputs.map(({ claim }) => hadEffect.get(claim.id))).toEqual([true, false])
})

test('sales of one route that end together share a transaction, and each gets its own answer', async () => {
  const before = await owedTo(db.database, accounts.payable(network, creator, 'creator'))
  const inputs = await Promise.all(Array.from({ length: 20 }, () => settled(commitMany, 'fine')))
  const finish = finishSales()
  const outcomes = await Promise.all(inputs.map((input) => finish.finish(input)))
  expect(batches).toEqual([20])
  expect(hooked).toEqual([20])
  for (const [index, outcome] of outcomes.entries()) {
    const { id } = (inputs[index] as FinishInput).claim
    expect(outcome).toMatchObject({ status: 'served', answer: { body: `stamped ${id}` } })
    const stored = await readAnswer(db.database, id)
    expect(stored?.body.toString()).toBe(`stamped ${id}`)
    expect(stored?.paymentResponse).toBe((outcome as { paymentResponse: string }).paymentResponse)
  }
  expect(await owedTo(db.database, accounts.payable(network, creator, 'creator'))).toBe(before + 20n * 4_500n)
  await expectSoundBooks()
  expect(await finish.finish(inputs[3] as FinishInput), 'a second end finds the first').toEqual({ status: 'already' })
})

test('a sale that cannot be given is credited alone, and does not spoil those beside it', async () => {
  const kinds = ['fine', 'fine', 'impossible', 'fine', 'fine', 'fine', 'impossible', 'fine']
  const inputs = await Promise.all(kinds.map((kind) => settled(commitMany, kind)))
  const finish = finishSales()
  const outcomes = await Promise.all(inputs.map((input) => finish.finish(input)))
  expect(outcomes.map(({ status }) => status)).toEqual(
    kinds.map((kind) => (kind === 'impossible' ? 'credited' : 'served')),
  )
  expect(credited).toEqual([inputs[2], inputs[6]].map((input) => input?.claim.id))
  expect(await statesOf(inputs)).toEqual(kinds.map((kind) => (kind === 'impossible' ? 'settling' : 'served')))
  await expectSoundBooks()
})

test('an effect that breaks, or leaves money in clearing, takes nothing from the others and leaves no trace of itself', async () => {
  const kinds = ['fine', 'broken', 'fine', 'forgetful', 'fine']
  const inputs = await Promise.all(kinds.map((kind) => settled(commitMany, kind)))
  const finish = finishSales()
  const outcomes = await Promise.allSettled(inputs.map((input) => finish.finish(input)))
  expect(outcomes.map(({ status }) => status)).toEqual(
    kinds.map((kind) => (kind === 'fine' ? 'fulfilled' : 'rejected')),
  )
  expect(String((outcomes[3] as PromiseRejectedResult).reason)).toContain('left -100 in clearing')
  expect(await statesOf(inputs)).toEqual(kinds.map((kind) => (kind === 'fine' ? 'served' : 'settling')))
  await expectSoundBooks()
})

test('what an effect and a hook add to a sale is one posting with it, and nothing passes through clearing', async () => {
  const parts = (sale: Sale, kind: string, amount: bigint) => ({
    reference: `${kind}:${sale.paymentId}`,
    kind,
    paymentId: sale.paymentId,
    lines: [
      { account: accounts.clearingPayments(network), amount },
      { account: accounts.payable(network, creator, 'creator'), amount: -amount },
    ],
  })
  const effect: CommitMany = async (_tx, sales, unposted) => {
    addPostings(
      unposted,
      sales.map((sale) => parts(sale, 'split', 4_000n)),
    )
    return sales.map(() => undefined)
  }
  const hook: SaleHook = async (_tx, sales, unposted = []) =>
    addPostings(
      unposted,
      sales.map((sale) => parts(sale, 'share', 1_000n)),
    )
  const inputs = [await settled(effect, ''), await settled(effect, '')]
  const finish = finishSales([hook])
  const outcomes = await Promise.all(inputs.map((input) => finish.finish(input)))
  expect(outcomes).toMatchObject([{ status: 'served' }, { status: 'served' }])
  const { rows } = await db.database.query<{ reference: string; names: string[] }>(
    `select t.reference, array(select a.name from ledger_entry e join ledger_account a on a.id = e.account_id
       where e.transaction_id = t.id order by e.line) as names
     from ledger_transaction t where t.payment_id = any($1) order by t.id`,
    [inputs.map(({ claim }) => claim.id)],
  )
  expect(rows).toEqual(
    inputs.map(({ claim }) => ({
      reference: `sale:${claim.id}`,
      names: [`onchain:custody@${network}`, `payable:creator:${creator}@${network}`],
    })),
  )
  await expectSoundBooks()
})

test('an effect that adds less than its price to the sale leaves money in clearing, and is not committed', async () => {
  const effect: CommitMany = async (_tx, sales) => sales.map(() => undefined)
  const input = await settled(effect, '')
  await expect(finishSales().finish(input)).rejects.toThrow('left -5000 in clearing')
  expect(await statesOf([input])).toEqual(['settling'])
  await expectSoundBooks()
})
