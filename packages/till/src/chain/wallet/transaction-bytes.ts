import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '../../kernel/bytes.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import type { RecoverableSignature } from '../../kernel/secp256k1.ts'
import type { Fees } from './fees.ts'

/** An EIP-1559 transaction that is complete but for its signature. */
export type UnsignedTransaction = Fees & {
  chainId: number
  nonce: bigint
  gasLimit: bigint
  to: Address
  value: bigint
  data: Hex
}

export type SignedTransaction = { raw: Hex; hash: Hex }

const eip1559Type = Buffer.from([2])

const fieldsOf = (transaction: UnsignedTransaction): RlpItem[] => [
  number(BigInt(transaction.chainId)),
  number(transaction.nonce),
  number(transaction.maxPriorityFeePerGas),
  number(transaction.maxFeePerGas),
  number(transaction.gasLimit),
  fromHex(transaction.to),
  number(transaction.value),
  fromHex(transaction.data),
  [],
]

export const transactionDigest = (transaction: UnsignedTransaction): Buffer =>
  keccak256(Buffer.concat([eip1559Type, rlp(fieldsOf(transaction))]))

export function joinSignature(
  transaction: UnsignedTransaction,
  { signature, recoveryId }: RecoverableSignature,
): SignedTransaction {
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)]
  const raw = Buffer.concat([
    eip1559Type,
    rlp([...fieldsOf(transaction), number(BigInt(recoveryId)), withoutZeros(r), withoutZeros(s)]),
  ])
  return { raw: toHex(raw), hash: toHex(keccak256(raw)) }
}

type RlpItem = Uint8Array | readonly RlpItem[]

function rlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) {
    if (item.byteLength === 1 && (item[0] as number) < 0x80) return Buffer.from(item)
    return Buffer.concat([rlpHead(item.byteLength, 0x80), item])
  }
  const body = Buffer.concat(item.map(rlp))
  return Buffer.concat([rlpHead(body.byteLength, 0xc0), body])
}

function rlpHead(length: number, offset: number): Buffer {
  if (length < 56) return Buffer.from([offset + length])
  const size = number(BigInt(length))
  return Buffer.concat([Buffer.from([offset + 55 + size.byteLength]), size])
}

/** Big-endian without leading zeros; zero is empty. */
function number(value: bigint): Buffer {
  if (value === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (bytes[start] === 0) start += 1
  return bytes.subarray(start)
}
