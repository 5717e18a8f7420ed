import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address } from '../kernel/address.ts'
import { accounts, balanceDifferences, balanceOf, owedTo, post } from '../ledger/index.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { base, openCreditDesk, randomWallet } from './credit.fixture.ts'
import { creditLines, readCredit } from './credit-balance.ts'
import { takeBackLines } from './take-back.ts'

let db: TestDatabase
let desk: ReturnType<typeof openCreditDesk>
beforeAll(async () => {
  db = await openTestDatabase()
  desk = openCreditDesk(db)
})
afterAll(() => db.close())

const custody = accounts.onchain(base, 'custody')
const debtOf = (wallet: Address) => balanceOf(db.database, accounts.receivable(base, wallet, 'credit'))
const credit = (wallet: Address) => owedTo(db.database, accounts.credit(base, wallet))
const newPayment = () => `pay_${randomBytes(8).toString('hex')}`

/** A payment that tops credit up, as the sale of a top-up posts it. */
const land = (wallet: Address, id: string, micro: bigint, round = 0) =>
  db.database.transaction(async (tx) =>
    post(tx, [
      {
        reference: `topup:${id}#${round}`,
        kind: 'topup',
        paymentId: id,
        lines: [{ account: custody, amount: micro }, ...(await creditLines(tx, base, wallet, micro))],
      },
    ]),
  )
const reorg = (id: string, micro: bigint, round = 0) =>
  db.database.transaction(async (tx) =>
    post(tx, [
      {
        reference: `reorg:${id}#${round}`,
        kind: 'reorg',
        paymentId: id,
        lines: [
          ...(await takeBackLines(tx, { id, network: base, amountMicro: micro }, micro)),
          { account: custody, amount: -micro },
        ],
      },
    ]),
  )
const draw = async (wallet: Address, micro: bigint) => {
  const asked = { by: wallet, micro }
  await desk.capture(await desk.held(asked), asked)
}

test('a top-up that was drawn, is reorganised away and lands again cannot be drawn a second time', async () => {
  const wallet = randomWallet()
  const id = newPayment()
  await land(wallet, id, 1_000n)
  await draw(wallet, 700n)
  await reorg(id, 1_000n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 700n])
  expect((await desk.hold({ by: wallet, micro: 1n })).status).toBe('not_covered')
  await land(wallet, id, 1_000n, 1)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([300n, 0n])
  await draw(wallet, 300n)
  await reorg(id, 1_000n, 1)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 1_000n])
})

test('another payment pays the debt first, and a reorg of that payment brings the debt back', async () => {
  const wallet = randomWallet()
  const [gone, next] = [newPayment(), newPayment()]
  await land(wallet, gone, 500n)
  await draw(wallet, 500n)
  await reorg(gone, 500n)
  await land(wallet, next, 800n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([300n, 0n])
  expect(await readCredit(db.database, base, wallet)).toMatchObject({ movableMicro: 300n })
  await reorg(next, 800n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 500n])
})

test('two payments at once pay a debt once', async () => {
  const wallet = randomWallet()
  const gone = newPayment()
  await land(wallet, gone, 500n)
  await draw(wallet, 500n)
  await reorg(gone, 500n)
  await Promise.all(Array.from({ length: 6 }, () => land(wallet, newPayment(), 400n)))
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([1_900n, 0n])
})

test('money held while its top-up is reorganised away pays the debt when the hold is voided', async () => {
  const wallet = randomWallet()
  const id = newPayment()
  await land(wallet, id, 1_000n)
  const held = await desk.held({ by: wallet, micro: 600n })
  await reorg(id, 1_000n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 600n])
  await desk.port.release(held.holdId)
  expect([await credit(wallet), await desk.heldMicro(wallet), await debtOf(wallet)]).toEqual([0n, 0n, 0n])
})

test('the books agree with the kept balances after all of it', async () => {
  expect(await balanceDifferences(db.database)).toEqual([])
})
