import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '@assay/till/kernel/bytes'
import { usdcDomainSeparator } from '@assay/till/kernel/eip3009'
import { keccak256 as keccak } from '@assay/till/kernel/keccak'
import { encodePacked, keccak256 } from 'viem'

/**
 * Off-chain attestations in the format of the Ethereum Attestation Service, version 2: its tools verify them, and they
 * can be put on chain later. The contract is the predeploy of OP-stack chains.
 */
export const easContract: Address = '0x4200000000000000000000000000000000000021'
const easVersion = '1.0.1'
const zeroAddress: Address = '0x0000000000000000000000000000000000000000'
export const zeroBytes32: Hex = `0x${'00'.repeat(32)}`

export const citationSchema =
  'bytes32 recordSha256,string sourceUrl,bytes32 contentSha256,bytes32 textSha256,bytes32 quoteSha256,bytes32 claimSha256,address agent,address payer,uint64 priceMicro'

/** As the schema registry names it: no resolver, not revocable. */
export const citationSchemaUid: Hex = keccak256(
  encodePacked(['string', 'address', 'bool'], [citationSchema, zeroAddress, false]),
)

export const attestTypes = {
  Attest: [
    { name: 'version', type: 'uint16' },
    { name: 'schema', type: 'bytes32' },
    { name: 'recipient', type: 'address' },
    { name: 'time', type: 'uint64' },
    { name: 'expirationTime', type: 'uint64' },
    { name: 'revocable', type: 'bool' },
    { name: 'refUID', type: 'bytes32' },
    { name: 'data', type: 'bytes' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

export type CitationData = {
  recordSha256: Hex
  sourceUrl: string
  contentSha256: Hex
  textSha256: Hex
  quoteSha256: Hex
  claimSha256: Hex
  agent: Address
  payer: Address
  priceMicro: bigint
}

export type AttestMessage = {
  version: 2
  schema: Hex
  recipient: Address
  time: bigint
  expirationTime: bigint
  revocable: false
  refUID: Hex
  data: Hex
  salt: Hex
}

export function citationMessage(facts: {
  data: CitationData
  recipient: Address | undefined
  seconds: number
  salt: Hex
}): AttestMessage {
  const { data } = facts
  return {
    version: 2,
    schema: citationSchemaUid,
    recipient: facts.recipient ?? zeroAddress,
    time: BigInt(facts.seconds),
    expirationTime: 0n,
    revocable: false,
    refUID: zeroBytes32,
    data: encodeCitation(data),
    salt: facts.salt,
  }
}

const word = (value: bigint | number): Buffer => fromHex(`0x${value.toString(16).padStart(64, '0')}`)
const addressWord = (address: Address): Buffer => Buffer.concat([Buffer.alloc(12), fromHex(address)])

/** The fields of the schema as the ABI encodes them: one word each, and the only text behind them. */
function encodeCitation(data: CitationData): Hex {
  const url = Buffer.from(data.sourceUrl)
  const heads = [
    fromHex(data.recordSha256),
    word(9 * 32),
    fromHex(data.contentSha256),
    fromHex(data.textSha256),
    fromHex(data.quoteSha256),
    fromHex(data.claimSha256),
    addressWord(data.agent),
    addressWord(data.payer),
    word(data.priceMicro),
  ]
  const padding = Buffer.alloc((32 - (url.length % 32)) % 32)
  return toHex(Buffer.concat([...heads, word(url.length), url, padding]))
}

export const easDomain = (chainId: number) =>
  ({ name: 'EAS Attestation', version: easVersion, chainId, verifyingContract: easContract }) as const

const typeHash = keccak(
  Buffer.from(`Attest(${attestTypes.Attest.map(({ name, type }) => `${type} ${name}`).join(',')})`),
)
const domainSeparators = new Map<number, Buffer>()

function domainSeparator(chainId: number): Buffer {
  const known = domainSeparators.get(chainId)
  if (known) return known
  const { name, version, verifyingContract: address } = easDomain(chainId)
  const made = usdcDomainSeparator({ name, version, chainId, address })
  domainSeparators.set(chainId, made)
  return made
}

/** What EIP-712 hashes, in fixed places: a general encoder with a slow hash would be most of the cost of a citation. */
export function attestDigest(message: AttestMessage, chainId: number): Hex {
  const struct = keccak(
    Buffer.concat([
      typeHash,
      word(message.version),
      fromHex(message.schema),
      addressWord(message.recipient),
      word(message.time),
      word(message.expirationTime),
      word(message.revocable ? 1 : 0),
      fromHex(message.refUID),
      keccak(fromHex(message.data)),
      fromHex(message.salt),
    ]),
  )
  return toHex(keccak(Buffer.concat([Buffer.from([0x19, 0x01]), domainSeparator(chainId), struct])))
}

const bigEndian = (value: bigint | number, bytes: number): Buffer => word(value).subarray(32 - bytes)

/** The UID of version 2: its fields packed, the schema as text; that is how the service's own tools compute it. */
export function attestUid(message: AttestMessage): Hex {
  return toHex(
    keccak(
      Buffer.concat([
        bigEndian(message.version, 2),
        Buffer.from(message.schema),
        fromHex(message.recipient),
        fromHex(zeroAddress),
        bigEndian(message.time, 8),
        bigEndian(message.expirationTime, 8),
        bigEndian(message.revocable ? 1 : 0, 1),
        fromHex(message.refUID),
        fromHex(message.data),
        fromHex(message.salt),
        bigEndian(0, 4),
      ]),
    ),
  )
}
