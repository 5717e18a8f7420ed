import { expect, test } from 'vitest'
import { checkRequest, keyRuleSchema } from './key-limits.ts'

const token = (digit: string) => `0x${digit.repeat(40)}` as const
const own = token('e')

test('a custody key allows transfers of the assets that its rule names for a chain, and of no other', () => {
  const authorization = {
    from: own,
    to: token('1'),
    value: 5n,
    validAfter: 0n,
    validBefore: 9n,
    nonce: '0x00' as const,
  }
  const verdict = (assets: object, address: `0x${string}`, chainId = 8453) => {
    const limits = { micro_per_transfer_max: '10', micro_per_day_max: '20' }
    const rule = keyRuleSchema.parse({ use: 'custody', key_file: 'custody.key', assets, ...limits })
    const asset = { address, name: 'USD X', version: '1' }
    const checked = checkRequest(rule as never, own, { kind: 'transfer', chainId, asset, authorization } as never)
    return checked.status === 'refused' ? checked.code : checked.status
  }
  expect(verdict({ 8453: token('a') }, token('a'))).toBe('allowed')
  expect(verdict({ 8453: token('a') }, token('b'))).toBe('asset')
  expect(verdict({ 8453: [token('a'), token('b')] }, token('b'))).toBe('allowed')
  expect(verdict({ 8453: [token('a'), token('b')] }, token('b'), 137)).toBe('asset')
  expect(() => verdict({ 8453: [] }, token('a'))).toThrow()
})
