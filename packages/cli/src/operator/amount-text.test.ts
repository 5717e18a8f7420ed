import { expect, test } from 'vitest'
import { amountText } from './amount-text.ts'

test('points are not dollars, and gas is gwei', () => {
  expect(amountText(286n, 'points')).toBe('286 points')
  expect(amountText(-1_500_000n, 'eip155:8453/usdc')).toBe('-1.5 USDC')
  expect(amountText(1_500_000n, `eip155:8453/erc20:0x${'ab'.repeat(20)}`)).toMatch(/^1\.5 USD in 0xabab.*abab$/)
  expect(amountText(-32n, 'eip155:8453/gas')).toBe('-32 gwei')
})
