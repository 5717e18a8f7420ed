import { randomBytes } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { reversalLines } from '../gate/reversal-lines.ts'
import { externalAccount } from '../ledger/accounts.fixture.ts'
import { accounts, balanceDifferences, balanceOf, owedTo, post } from '../ledger/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { base, openTestCredit, randomWallet } from './credit.fixture.ts'
import { creditLines, readCredit } from './credit-balance.ts'

const db = await useTestDatabase()
const testCredit = openTestCredit(db)

const custody = externalAccount(base)
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
          ...(await reversalLines(tx, { id, network: base, amountMicro: micro }, micro)),
          { account: custody, amount: -micro },
        ],
      },
    ]),
  )
const draw = async (wallet: Address, micro: bigint) => {
  const asked = { by: wallet, micro }
  await testCredit.capture(await testCredit.held(asked), asked)
}

test('a top-up that was drawn, is reorganised away and lands again cannot be drawn a second time', async () => {
  const wallet = randomWallet()
  const id = newPayment()
  await land(wallet, id, 1_000n)
  await draw(wallet, 700n)
  await reorg(id, 1_000n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 700n])
  expect((await testCredit.hold({ by: wallet, micro: 1n })).status).toBe('not_covered')
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
  const held = await testCredit.held({ by: wallet, micro: 600n })
  await reorg(id, 1_000n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 600n])
  await testCredit.port.release(held.holdId)
  expect([await credit(wallet), await testCredit.heldMicro(wallet), await debtOf(wallet)]).toEqual([0n, 0n, 0n])
})

test('a payment that paid a debt and is reorganised away later is taken from what is free by then', async () => {
  const wallet = randomWallet()
  const [gone, paid, next] = [newPayment(), newPayment(), newPayment()]
  await land(wallet, gone, 500n)
  await draw(wallet, 500n)
  await reorg(gone, 500n)
  await land(wallet, paid, 200n)
  await land(wallet, next, 400n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([100n, 0n])
  await reorg(paid, 200n)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 100n])
  await land(wallet, paid, 200n, 1)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([100n, 0n])
  await reorg(paid, 200n, 1)
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 100n])
})

/** Takes a payment back, and lets `meanwhile` happen between the read of what is there and the posting. */
const reorgDuring = (id: string, micro: bigint, meanwhile: () => Promise<unknown>) =>
  db.database.transaction(async (tx) => {
    const lines = await reversalLines(tx, { id, network: base, amountMicro: micro }, micro)
    let isOver = false
    const done = meanwhile().finally(() => {
      isOver = true
    })
    // It waits for a lock of this transaction, or is over.
    const isWaiting = async () => {
      const { rows } = await db.owner.query('select from pg_stat_activity where wait_event_type = $1', ['Lock'])
      return isOver || rows.length > 0
    }
    await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true)
    const given = { account: custody, amount: -micro }
    await post(tx, [{ reference: `reorg:${id}`, kind: 'reorg', paymentId: id, lines: [...lines, given] }])
    return { done }
  })

test('a draw in the middle of a reorg waits for it, and finds nothing to draw on', async () => {
  const wallet = randomWallet()
  const id = newPayment()
  await land(wallet, id, 1_000n)
  const { done } = await reorgDuring(id, 1_000n, () => testCredit.hold({ by: wallet, micro: 300n }))
  expect(await done).toMatchObject({ status: 'not_covered' })
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 0n])
})

test('a hold that is voided in the middle of a reorg leaves no debt beside money that is free', async () => {
  const wallet = randomWallet()
  const id = newPayment()
  await land(wallet, id, 1_000n)
  const { holdId } = await testCredit.held({ by: wallet, micro: 600n })
  const { done } = await reorgDuring(id, 1_000n, () => testCredit.port.release(holdId))
  await done
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([0n, 0n])
})

test('a payment that lands in the middle of a reorg pays the debt that the reorg leaves', async () => {
  const wallet = randomWallet()
  const [gone, next] = [newPayment(), newPayment()]
  await land(wallet, gone, 1_000n)
  await draw(wallet, 700n)
  const { done } = await reorgDuring(gone, 1_000n, () => land(wallet, next, 800n))
  await done
  expect([await credit(wallet), await debtOf(wallet)]).toEqual([100n, 0n])
})

test('the books agree with the kept balances after all of it', async () => {
  expect(await balanceDifferences(db.database)).toEqual([])
})
