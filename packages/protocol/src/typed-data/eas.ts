import { type Address, zeroAddress } from '../address.ts'
import { concatBytes, fromHex, type Hex, toHex, utf8 } from '../bytes.ts'
import { type Hash, keccak256 } from '../hash.ts'
import { domainSeparator } from './domain-separator.ts'
import { addressWord, textWords, typeText, uintWord } from './words.ts'

/**
 * Off-chain attestations in the format of the Ethereum Attestation Service, version 2: its tools verify them, and they
 * can be put on chain later. The contract is the predeploy of OP-stack chains.
 */
export const easContract: Address = '0x4200000000000000000000000000000000000021'
const easVersion = '1.0.1'
export const zeroBytes32: Hex = `0x${'00'.repeat(32)}`

/** A remittance is about a sale and no page; the schema of attestations has places for one. */
export const noPage = {
  contentSha256: zeroBytes32,
  textSha256: zeroBytes32,
  quoteSha256: zeroBytes32,
  claimSha256: zeroBytes32,
}

export const citationSchema =
  'bytes32 recordSha256,string sourceUrl,bytes32 contentSha256,bytes32 textSha256,bytes32 quoteSha256,bytes32 claimSha256,address agent,address payer,uint64 priceMicro'

/** As the schema registry names it: no resolver, not revocable. */
export const citationSchemaUid: Hex = toHex(
  keccak256(concatBytes(utf8(citationSchema), fromHex(zeroAddress), Uint8Array.of(0))),
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

/** The fields of the schema as the ABI encodes them: one word each, and the only text behind them. */
function encodeCitation(data: CitationData): Hex {
  return toHex(
    concatBytes(
      fromHex(data.recordSha256),
      uintWord(9 * 32),
      fromHex(data.contentSha256),
      fromHex(data.textSha256),
      fromHex(data.quoteSha256),
      fromHex(data.claimSha256),
      addressWord(data.agent),
      addressWord(data.payer),
      uintWord(data.priceMicro),
      textWords(utf8(data.sourceUrl)),
    ),
  )
}

export const easDomain = (chainId: number) =>
  ({ name: 'EAS Attestation', version: easVersion, chainId, verifyingContract: easContract }) as const

const attestType = utf8(typeText('Attest', attestTypes.Attest))
const domainSeparators = new Map<number, Uint8Array>()

function easSeparator(chainId: number): Uint8Array {
  const known = domainSeparators.get(chainId)
  if (known) return known
  const { verifyingContract: address, ...domain } = easDomain(chainId)
  const made = domainSeparator({ ...domain, address })
  domainSeparators.set(chainId, made)
  return made
}

/** What EIP-712 hashes, in fixed places: a general encoder with a slow hash would be most of the cost of a citation. */
export function attestDigest(message: AttestMessage, chainId: number, keccak: Hash = keccak256): Hex {
  const struct = keccak(
    concatBytes(
      keccak(attestType),
      uintWord(message.version),
      fromHex(message.schema),
      addressWord(message.recipient),
      uintWord(message.time),
      uintWord(message.expirationTime),
      uintWord(message.revocable ? 1 : 0),
      fromHex(message.refUID),
      keccak(fromHex(message.data)),
      fromHex(message.salt),
    ),
  )
  return toHex(keccak(concatBytes(Uint8Array.of(0x19, 0x01), easSeparator(chainId), struct)))
}

const bigEndian = (value: bigint | number, bytes: number) => uintWord(value).subarray(32 - bytes)

export type AttestFields = Omit<AttestMessage, 'version' | 'revocable'> & { version: number; revocable: boolean }

/** The UID of version 2: its fields packed, the schema as text; that is how the service's own tools compute it. */
export function attestUid(message: AttestFields, keccak: Hash = keccak256): Hex {
  return toHex(
    keccak(
      concatBytes(
        bigEndian(message.version, 2),
        utf8(message.schema),
        fromHex(message.recipient),
        fromHex(zeroAddress),
        bigEndian(message.time, 8),
        bigEndian(message.expirationTime, 8),
        bigEndian(message.revocable ? 1 : 0, 1),
        fromHex(message.refUID),
        fromHex(message.data),
        fromHex(message.salt),
        bigEndian(0, 4),
      ),
    ),
  )
}
