import fc from 'fast-check'
import { encodeAbiParameters, encodePacked, hashTypedData, keccak256, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import { anyText } from '../any-text.fixture.ts'
import { toHex } from '../bytes.ts'
import { attestDigest, attestTypes, attestUid, citationMessage, citationSchema, easDomain, zeroBytes32 } from './eas.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex)

test('the digest is the one of EIP-712, whatever is attested', () => {
  fc.assert(
    fc.property(
      fc.record({
        recordSha256: bytes(32),
        sourceUrl: fc.oneof(fc.webUrl(), anyText({ maxLength: 200 })),
        contentSha256: bytes(32),
        textSha256: bytes(32),
        quoteSha256: bytes(32),
        claimSha256: bytes(32),
        agent: bytes(20),
        payer: bytes(20),
        priceMicro: fc.bigInt({ min: 0n, max: 2n ** 63n }),
      }),
      fc.option(bytes(20), { nil: undefined }),
      fc.nat({ max: 4_000_000_000 }),
      bytes(32),
      (data, recipient, seconds, salt) => {
        const message = citationMessage({ data, recipient, seconds, salt })
        expect(attestDigest(message, 8453)).toBe(
          hashTypedData({ domain: easDomain(8453), types: attestTypes, primaryType: 'Attest', message }),
        )
        expect(message.data).toBe(abiOf(data))
        expect(attestUid(message)).toBe(uidOf(message))
      },
    ),
    { numRuns: 30 },
  )
})

const abiOf = (data: Record<string, unknown>) => {
  const fields = citationSchema.split(',').map((field) => field.split(' ') as [string, string])
  return encodeAbiParameters(
    fields.map(([type]) => ({ type })),
    fields.map(([, name]) => data[name]),
  )
}

/** As `Offchain.getOffchainUID` of the service's SDK packs version 2: no attester, and a zero at the end. */
const uidOf = (message: ReturnType<typeof citationMessage>) =>
  keccak256(
    encodePacked(
      ['uint16', 'bytes', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'bytes32', 'uint32'],
      [
        2,
        stringToHex(message.schema),
        message.recipient,
        '0x0000000000000000000000000000000000000000',
        message.time,
        0n,
        false,
        zeroBytes32,
        message.data,
        message.salt,
        0,
      ],
    ),
  )
