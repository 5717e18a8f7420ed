import { encodeAbiParameters, encodePacked, keccak256, stringToHex } from 'viem'
import type { Address } from '../../kernel/address.ts'
import { fromHex, type Hex, toHex } from '../../kernel/bytes.ts'
import { usdcDomainSeparator } from '../../kernel/eip3009.ts'
import { keccak256 as keccak } from '../../kernel/keccak.ts'

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
    data: encodeAbiParameters(
      citationSchema.split(',').map((field) => ({ type: field.split(' ')[0] as string })),
      [
        data.recordSha256,
        data.sourceUrl,
        data.contentSha256,
        data.textSha256,
        data.quoteSha256,
        data.claimSha256,
        data.agent,
        data.payer,
        data.priceMicro,
      ],
    ),
    salt: facts.salt,
  }
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

const word = (value: bigint | number): Buffer => fromHex(`0x${value.toString(16).padStart(64, '0')}`)

/** What EIP-712 hashes, in fixed places: a general encoder with a slow hash would be most of the cost of a citation. */
export function attestDigest(message: AttestMessage, chainId: number): Hex {
  const struct = keccak(
    Buffer.concat([
      typeHash,
      word(message.version),
      fromHex(message.schema),
      Buffer.alloc(12),
      fromHex(message.recipient),
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

const hashed = (hex: Hex): Hex => toHex(keccak(fromHex(hex)))

/** The UID of version 2 covers the schema as text; that is how the service's own tools compute it. */
export function attestUid(message: AttestMessage): Hex {
  return hashed(
    encodePacked(
      ['uint16', 'bytes', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'bytes32', 'uint32'],
      [
        message.version,
        stringToHex(message.schema),
        message.recipient,
        zeroAddress,
        message.time,
        message.expirationTime,
        message.revocable,
        message.refUID,
        message.data,
        message.salt,
        0,
      ],
    ),
  )
}
