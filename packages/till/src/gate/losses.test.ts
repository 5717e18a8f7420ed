import { expect, test } from 'vitest'
import { defineNetwork, knownNetworks, withDollars } from '../chain/index.ts'
import type { Database } from '../store/database.ts'
import { createLosses, lossLimitsOf } from './losses.ts'

const payer = `0x${'a'.repeat(40)}` as const
const network = 'eip155:8453'

/** Reads wait until they are let go; each answers with what was recorded when it began. */
function openLosses() {
  let recorded = false
  const waiting: (() => void)[] = []
  const query = async (text: string) => {
    if (text.startsWith('insert')) {
      recorded = true
      return { rows: [], rowCount: 1 }
    }
    const rows = recorded ? [{ scope: 'payer', key: payer, gas_gwei: 0n }] : []
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { rows, rowCount: rows.length }
  }
  const clock = { monotonicMs: () => 0, nowMs: () => 0 }
  const losses = createLosses({ query } as unknown as Database, clock as never, lossLimitsOf(knownNetworks))
  return { losses, waiting, allows: () => losses.allows(payer, network, 'test.route') }
}

test('those who come together read the losses once', async () => {
  const { waiting, allows } = openLosses()
  const all = [allows(), allows(), allows()]
  expect(waiting).toHaveLength(1)
  waiting[0]?.()
  expect(await Promise.all(all)).toEqual([true, true, true])
})

test('a read that began before a loss was recorded takes nothing away from the one after it', async () => {
  const { losses, waiting, allows } = openLosses()
  const before = allows()
  await losses.record(payer, network, 'test.route', 0n)
  const after = allows()
  waiting[1]?.()
  expect(await after).toBe(false)
  waiting[0]?.()
  await before
  expect(await allows()).toBe(false)
  expect(waiting).toHaveLength(2)
})

test('what failures may cost is a matter of the coin, also of a chain of the operator and of a further dollar', () => {
  const dollar = { address: `0x${'d0'.repeat(20)}`, symbol: 'XUSD', name: 'X', version: '1', decimals: 6 } as const
  const facts = { chainId: 4_321, name: 'third', usdc: dollar, dollars: [dollar] }
  const limitOf = (given: object) => {
    const [usdc, further] = withDollars([{ ...defineNetwork({ ...facts, ...given }) }])
    const limits = lossLimitsOf([...knownNetworks, ...[usdc, further].flatMap((one) => one ?? [])])
    const limit = limits.gasGweiPerRoutePerDay('eip155:4321')
    expect(limits.gasGweiPerRoutePerDay(further?.caip2 ?? '')).toBe(limit)
    expect(limits.gasGweiPerRoutePerDay('eip155:1')).toBe(0n)
    return limit
  }
  expect(limitOf({})).toBe(50_000_000n)
  expect(limitOf({ nativeUsdMax: 10n })).toBe(50_000_000_000n)
})
