import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { statementTypedData } from '@assay/till/proofs'
import fc from 'fast-check'
import { hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { redeemDigest, redeemStatement } from './redeem-statement.ts'

test('the digest is the one any wallet signs', () => {
  const anyMessage = fc.record({
    wallet: fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as Address),
    points: fc.bigInt({ min: 0n, max: 10n ** 15n }),
    reward: fc.string(),
    nonce: fc.string(),
    issuedAt: fc.nat(),
    expiresAt: fc.nat(),
  })
  fc.assert(
    fc.property(anyMessage, fc.webUrl(), fc.constantFrom(8453, 137), (message, node, chainId) => {
      const typed = statementTypedData(redeemStatement(message), node, chainId)
      expect(toHex(redeemDigest(message, node, chainId))).toBe(hashTypedData(typed as never))
    }),
  )
})
