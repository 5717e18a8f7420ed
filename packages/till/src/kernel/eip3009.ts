import type { Hex } from '@assay/protocol/bytes'
import { type ContractDomain, domainSeparator } from '@assay/protocol/typed-data/domain-separator'
import {
  authorizationTypes,
  receiveTypes,
  type TransferAuthorization,
} from '@assay/protocol/typed-data/transfer-authorization'
import { typeText } from '@assay/protocol/typed-data/words'
import { keccak256 } from './keccak.ts'

const typeHash = (name: string, fields: Parameters<typeof typeText>[1]) =>
  keccak256(Buffer.from(typeText(name, fields)))
const transferTypeHash = typeHash('TransferWithAuthorization', authorizationTypes.TransferWithAuthorization)
const receiveTypeHash = typeHash('ReceiveWithAuthorization', receiveTypes.ReceiveWithAuthorization)

/** The EIP-712 domain separator of a USDC contract; compute it once per asset. */
export const usdcDomainSeparator = (domain: ContractDomain): Buffer => Buffer.from(domainSeparator(domain, keccak256))

// Reused by every call: hashing is synchronous, so no two calls can see each other's bytes.
const structWords = Buffer.alloc(7 * 32)
transferTypeHash.copy(structWords, 0)
const digestInput = Buffer.alloc(2 + 64)
digestInput[0] = 0x19
digestInput[1] = 0x01

/** The digest of `receiveWithAuthorization`, which only the recipient itself can use: a contract that pulls money. */
export function hashReceiveAuthorization(domainSeparator: Uint8Array, authorization: TransferAuthorization): Buffer {
  receiveTypeHash.copy(structWords, 0)
  try {
    return hashTransferAuthorization(domainSeparator, authorization)
  } finally {
    transferTypeHash.copy(structWords, 0)
  }
}

/** The EIP-712 digest a payer signs. Fields must already have the right shape: 20-byte addresses, 32-byte nonce. */
export function hashTransferAuthorization(domainSeparator: Uint8Array, authorization: TransferAuthorization): Buffer {
  writeHex(structWords, 32 + 12, authorization.from, 20)
  writeHex(structWords, 64 + 12, authorization.to, 20)
  writeUint256(structWords, 96, authorization.value)
  writeUint256(structWords, 128, authorization.validAfter)
  writeUint256(structWords, 160, authorization.validBefore)
  writeHex(structWords, 192, authorization.nonce, 32)
  digestInput.set(domainSeparator, 2)
  keccak256(structWords).copy(digestInput, 34)
  return keccak256(digestInput)
}

function writeHex(target: Buffer, offset: number, hex: Hex, byteLength: number): void {
  // A short write would leave bytes of an earlier message behind, so it must never pass.
  if (hex.length !== 2 + byteLength * 2 || target.write(hex.slice(2), offset, byteLength, 'hex') !== byteLength)
    throw new RangeError(`expected ${byteLength} bytes of hex`)
}

const uint64Max = 0xffff_ffff_ffff_ffffn

function writeUint256(target: Buffer, offset: number, value: bigint): void {
  if (value < 0n) throw new RangeError('a uint256 is not negative')
  if (value <= uint64Max) {
    target.fill(0, offset, offset + 24)
    target.writeBigUInt64BE(value, offset + 24)
    return
  }
  const hex = value.toString(16)
  if (hex.length > 64) throw new RangeError('value exceeds uint256')
  target.write(hex.padStart(64, '0'), offset, 32, 'hex')
}
