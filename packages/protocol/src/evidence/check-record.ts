import { decodeAbiParameters, hashTypedData, sha256 } from 'viem/utils'
import { checksumAddress, zeroAddress } from '../address.ts'
import { utf8 } from '../bytes.ts'
import { tryCanonicalJson } from '../canonical-json.ts'
import { isRecord } from '../json-object.ts'
import { recoverSigner } from '../recover-signer.ts'
import { attestTypes, attestUid, citationSchema, citationSchemaUid, noPage, zeroBytes32 } from '../typed-data/eas.ts'
import { type CitationAttestation, type Finding, failed, passed } from './attestation-file.ts'

export const recordText = (file: CitationAttestation) => tryCanonicalJson(file.record) ?? ''

const dataFields = citationSchema.split(',').map((field) => {
  const [type = '', name = ''] = field.split(' ')
  return { type, name }
})

/** Where the node gives the file again; follows from the record. */
export const addressOf = ({ record }: CitationAttestation) =>
  `${record.node}/v1/${record.type === 'assay.royalty/v1' ? 'royalties' : 'attestations'}/${String(record.id)}`

/** The signed data hold the digest of the record, and repeat parts of it for tools that know only the schema. */
export function checkRecord(file: CitationAttestation): Finding {
  const { message } = file.attestation.sig
  const values = decodeAbiParameters(dataFields, message.data) as unknown[]
  const signed = new Map(dataFields.map(({ name }, index) => [name, String(values[index]).toLowerCase()]))
  if (signed.get('recordSha256') !== sha256(utf8(recordText(file))))
    return { check: failed('record', 'the record was changed after it was attested') }
  const differing = Object.entries(dataOf(file)).filter(([name, value]) => signed.get(name) !== value.toLowerCase())
  if (differing.length > 0)
    return { check: failed('record', `the signed data differ from the record: ${differing.map(([name]) => name)}`) }
  if (!fitsMessage(file)) return { check: failed('record', 'the attestation names another time, recipient or schema') }
  return { check: passed('record', summaryOf(file)), covers: ['record.**'] }
}

const textOr = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise)

/** What the data must say, by the record. */
function dataOf(file: CitationAttestation): Record<string, string> {
  const { record } = file
  const parties = { agent: String(record.agent_wallet ?? record.payer), payer: String(record.payer) }
  if (record.type === 'assay.royalty/v1')
    return { ...parties, ...noPage, sourceUrl: addressOf(file), priceMicro: String(record.royalty_micro) }
  const page = firstPage(record)
  const { quote } = record
  return {
    ...parties,
    sourceUrl: String(page.source_url),
    contentSha256: String(page.content_sha256),
    textSha256: String(page.text_sha256),
    quoteSha256: isRecord(quote) && quote.found === true ? String(quote.sha256) : zeroBytes32,
    claimSha256: textOr(record.claim_sha256, zeroBytes32),
    priceMicro: String(record.price_micro),
  }
}

/** A citation is about one page; a claim about several, of which the first is in the signed data. */
function firstPage(record: CitationAttestation['record']): Record<string, unknown> {
  const [first] = Array.isArray(record.sources) ? record.sources : [record]
  return isRecord(first) ? first : {}
}

function fitsMessage({ record, attestation }: CitationAttestation): boolean {
  const { message } = attestation.sig
  const at = Date.parse(String(record.attested_at ?? record.remitted_at))
  return (
    message.schema === citationSchemaUid &&
    message.time === String(Math.floor(at / 1000)) &&
    message.expirationTime === '0' &&
    message.recipient.toLowerCase() === textOr(firstPage(record).creator_wallet, zeroAddress).toLowerCase()
  )
}

function summaryOf({ record }: CitationAttestation): string {
  if (record.type === 'assay.royalty/v1') return `${record.payer} remitted a royalty for ${record.parent}`
  return `${record.agent_wallet} cited ${String(firstPage(record).source_url)}`
}

const signedFields = [
  ...['name', 'version', 'chainId', 'verifyingContract'].map((name) => `domain.${name}`),
  ...attestTypes.Attest.map(({ name }) => `message.${name}`),
  ...['r', 's', 'v'].map((name) => `signature.${name}`),
  'uid',
].map((name) => `attestation.sig.${name}`)

export async function checkSignature({ attestation }: CitationAttestation): Promise<Finding> {
  const { message, domain, uid } = attestation.sig
  if (![message.refUID, message.data, message.salt].every((text) => /^0x[0-9a-f]*$/.test(text)))
    throw new Error('hex has small letters')
  const typed = { ...message, time: BigInt(message.time), expirationTime: BigInt(message.expirationTime) }
  // Made here, where what cannot be hashed throws.
  const digest = hashTypedData({ domain, types: attestTypes, primaryType: 'Attest', message: typed })
  const signer = await recoverSigner(() => digest, signatureText(attestation.sig.signature))
  if (signer === undefined) throw new Error('no signature')
  if (checksumAddress(signer) !== attestation.signer)
    return { check: failed('attestation', 'it was not signed by the signer it names') }
  if (attestUid(typed) !== uid)
    return { check: failed('attestation', 'the identifier does not follow from the attestation') }
  const at = new Date(Number(message.time) * 1000).toISOString()
  return {
    check: passed('attestation', `signed by ${attestation.signer}, ${at}`),
    covers: [...signedFields, 'attestation.signer'],
  }
}

/** One form only: other spellings would be second signatures over the same message. */
function signatureText({ r, s, v }: CitationAttestation['attestation']['sig']['signature']): string {
  const isWord = (text: unknown) => /^0x[0-9a-f]{64}$/.test(String(text))
  if (!isWord(r) || !isWord(s) || (v !== 27 && v !== 28)) throw new Error('no signature')
  return `${r}${s.slice(2)}${v.toString(16)}`
}
