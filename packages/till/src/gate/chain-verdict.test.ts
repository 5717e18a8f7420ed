import { expect, test } from 'vitest'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import { another, chainShowing, confirmedAt, expected, named, type Shown } from './chain-stub.fixture.ts'
import { chainVerdict } from './chain-verdict.ts'

const exact = createExactScheme([])
const payment = { ...expected, headBlock: 10_000n, validBefore: 500n, transaction: null } as unknown as PaymentRecord
const finalAt = (timestamp: number) => ({ number: 9_000n, hash: named, timestamp })

async function verdictOn(shown: Shown, more: Partial<PaymentRecord> = {}) {
  const { chain, asked } = chainShowing(shown)
  return { verdict: await chainVerdict(exact, chain, { ...payment, ...more }), asked }
}

test('the transaction that was named settles when it is confirmed, and nothing else is asked', async () => {
  const { verdict, asked } = await verdictOn({ byTransaction: [confirmedAt(10_001n)] }, { transaction: named })
  expect(verdict).toEqual({ status: 'settled', evidence: confirmedAt(10_001n), feeMicro: 0n, gasGwei: 0n })
  expect(asked).toEqual({ transactions: [named], searches: [], usedAt: [] })
})

test('a named transaction that is not there says nothing: its key decides', async () => {
  const shown = {
    byTransaction: [{ status: 'absent' } as const],
    used: [true],
    byKey: [confirmedAt(10_001n, another)],
  }
  const { verdict, asked } = await verdictOn(shown, { transaction: named })
  expect(verdict).toMatchObject({ status: 'settled', evidence: { transaction: another } })
  expect(asked.searches).toEqual([9_900n])
})

test('a used key is decided by when it was used', async () => {
  const before = await verdictOn({ used: [true], byKey: [confirmedAt(10_000n)] })
  expect(before.verdict.status).toBe('spent_before')
  const young = await verdictOn({ used: [true], byKey: [confirmedAt(51n)] }, { headBlock: 50n })
  expect([young.verdict.status, young.asked.searches]).toEqual(['settled', [0n]])
})

test('an unused key stays unknown until its time has passed at a final block', async () => {
  for (const timestamp of [499, 500]) {
    const { verdict } = await verdictOn({ used: [false], final: finalAt(timestamp) })
    expect(verdict).toEqual({ status: 'unknown', reason: 'its time has not passed at a final block' })
  }
})

test('past its time it has failed only if it is unused at that very block', async () => {
  const { verdict, asked } = await verdictOn({ used: [false], final: finalAt(501) })
  expect(verdict).toEqual({ status: 'failed', reason: 'authorization_expired', gasGwei: 0n })
  expect(asked.usedAt).toEqual(['latest', 9_000n])
  const meanwhile = await verdictOn({ used: [false, true], final: finalAt(501) })
  expect(meanwhile.verdict).toEqual({ status: 'unknown', reason: 'the payment was used meanwhile' })
})

test('a chain that cannot be read gives no verdict', async () => {
  await expect(verdictOn({ used: ['unreadable'] })).rejects.toThrow('no endpoint answered')
  await expect(verdictOn({ used: [false, 'unreadable'], final: finalAt(501) })).rejects.toThrow('no endpoint answered')
})
