import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromHex } from '../kernel/bytes.ts'
import type { Tx } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import {
  accounts,
  balanceOf,
  LedgerRefused,
  type MovedMoney,
  post,
  releaseTransfer,
  type TransferTurn,
  takeTransfer,
} from './index.ts'

const network = 'eip155:8453'
const nowMs = Date.parse('2026-01-01T00:00:00Z')
const db = await useTestDatabase()

let numbers = 0
const moved = (amountMicro: bigint, more: Partial<MovedMoney> = {}): MovedMoney => {
  numbers += 1
  return {
    network,
    asset: `${network}/erc20:0x${'a'.repeat(40)}`,
    transaction: `0x${numbers.toString(16).padStart(64, '0')}`,
    position: 1,
    sender: `0x${'b'.repeat(40)}`,
    recipient: `0x${'c'.repeat(40)}`,
    amountMicro,
    paymentKey: undefined,
    blockNumber: 10n,
    blockHash: `0x${'d'.repeat(64)}`,
    ...more,
  }
}

let postings = 0
const postSale = (tx: Tx, micro: bigint, transfer?: TransferTurn) => {
  postings += 1
  return post(tx, [
    {
      reference: `test:${postings}`,
      kind: 'sale',
      ...(transfer ? { transfer } : {}),
      lines: [
        { account: accounts.onchain(network, 'pay_to'), amount: micro },
        { account: accounts.revenue(network, 'test'), amount: -micro },
      ],
    },
  ])
}

const postMoney = (money: MovedMoney, as: string, micro = money.amountMicro) =>
  db.database.transaction(async (tx) => {
    const transfer = await takeTransfer(tx, money, { as, for: as }, nowMs)
    if (transfer) await postSale(tx, micro, transfer)
    return transfer !== undefined
  })

test('money at our wallets is posted only with the transfer that moved it, and by its amount', async () => {
  await expect(db.database.transaction((tx) => postSale(tx, 5n))).rejects.toThrow(LedgerRefused)
  const money = moved(100n)
  await expect(postMoney(money, 'payment', 99n)).rejects.toThrow('without a transfer of that amount')
  expect(await postMoney(money, 'payment')).toBe(true)
})

test('money of one asset is never posted as that of another on the same chain', async () => {
  const dollar = `${network}/erc20:0x${'d0'.repeat(20)}` as const
  const money = moved(100n, { network: dollar, asset: dollar })
  await expect(postMoney(money, 'payment')).rejects.toThrow('without a transfer of that amount')
})

test('log position ignored: two transfers of one transaction are two, each posted once', async () => {
  const first = moved(7n)
  const second = { ...first, position: 2, amountMicro: 9n }
  expect([await postMoney(first, 'payment'), await postMoney(second, 'payment')]).toEqual([true, true])
  expect([await postMoney(first, 'payment'), await postMoney(second, 'review')]).toEqual([false, false])
})

test('review and payment never both post one transfer, however they race', async () => {
  for (let round = 0; round < 20; round += 1) {
    const money = moved(11n)
    const taken = await Promise.all(
      ['payment', 'review', 'funding', 'credit', 'payout'].map((as) => postMoney(money, as)),
    )
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await postMoney(money, 'late')).toBe(false)
  }
})

test('a transfer that a row describes otherwise is not taken', async () => {
  const money = moved(13n)
  await postMoney(money, 'payment')
  await db.owner.query('update transfer set posted_as = null, posted_for = null where transaction = $1', [
    fromHex(money.transaction),
  ])
  expect(await postMoney({ ...money, amountMicro: 14n }, 'credit')).toBe(false)
  expect(await postMoney({ ...money, recipient: `0x${'e'.repeat(40)}` }, 'credit')).toBe(false)
})

type Step = { transfer: number; act: 'post' | 'undo' }

test('whatever is posted and undone, the books have each transfer once or not at all', async () => {
  const steps = fc.array(
    fc.record({ transfer: fc.nat(3), act: fc.constantFrom<Step['act']>('post', 'post', 'undo') }),
    { maxLength: 25 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const transfers = [3n, 5n, 7n, 11n].map((micro) => moved(micro))
      const before = await balanceOf(db.database, accounts.onchain(network, 'pay_to'))
      const posted = new Set<number>()
      for (const { transfer, act } of list) {
        const money = transfers[transfer] as MovedMoney
        if (act === 'post') expect(await postMoney(money, 'payment')).toBe(!posted.has(transfer))
        else expect(await undo(money)).toBe(posted.has(transfer))
        if (act === 'post') posted.add(transfer)
        else posted.delete(transfer)
      }
      const expected = [...posted].reduce((sum, index) => sum + (transfers[index] as MovedMoney).amountMicro, 0n)
      expect((await balanceOf(db.database, accounts.onchain(network, 'pay_to'))) - before).toBe(expected)
    }),
    { numRuns: 25 },
  )
})

const undo = (money: MovedMoney) =>
  db.database.transaction(async (tx) => {
    const transfer = await releaseTransfer(tx, money, 'payment')
    if (transfer) await postSale(tx, -money.amountMicro, transfer)
    return transfer !== undefined
  })
