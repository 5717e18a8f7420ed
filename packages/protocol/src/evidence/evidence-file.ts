import { isAddress } from 'viem/utils'
import { fromBase64, toBase64 } from '../base64.ts'
import { fromUtf8, type Hex } from '../bytes.ts'
import { isRecord, parseJson, readJsonObject } from '../json-object.ts'
import { type CitationAttestation, parseAttestation } from './attestation-file.ts'

/**
 * Everything needed to check an answer later without asking anyone: what was sent, what came back byte for byte, the
 * keys of that day, the payment, and the attestation with its proof where the answer is one. The secret identifier of the
 * purchase is left out, so it can be shown around. docs/evidence-format.md has every field.
 */
export type Evidence = {
  format: 'assay-evidence'
  version: 2
  saved_at: string | null
  request: { method: string; url: string; content_type: string | null; body_base64: string } | null
  response: { status: number; headers: Record<string, string>; body_base64: string } | null
  keys: { origin: string; directory: unknown }
  payment: EvidencePayment | null
  /** The seller's receipt, which is also inside PAYMENT-RESPONSE. */
  receipt: string | null
  /** The attestation as the node gave it last, with witnesses and key statements. */
  attestation: CitationAttestation | null
}

/** The part of it that is a signed answer. */
export type EvidenceExchange = Evidence & Record<'request' | 'response', object>

/** What the payer signed. */
export type EvidencePayment = {
  /** The seller's name of what was bought. */
  resource: string
  network: string
  asset: string
  asset_name: string
  asset_version: string
  transaction: string | null
  authorization: { from: Hex; to: Hex; value: string; validAfter: string; validBefore: string; nonce: Hex }
  signature: Hex
  /** Opens the nonce: with it the payer's own signature says what was bought. */
  binding_salt: Hex | null
}

/** The attestation that a body is, or undefined. */
export function attestationIn(body: Uint8Array): CitationAttestation | undefined {
  return parseAttestation(readJsonObject(body))
}

/**
 * Reads evidence of either version, and an attestation by itself, from JSON or from the bytes of a file. Undefined for
 * anything else. An answer that is an
 * attestation is one whether the file says so or not: its proof cannot be left out.
 */
export function parseEvidence(file: unknown): Evidence | undefined {
  const value = file instanceof Uint8Array ? parseJson(fromUtf8(file) ?? '') : file
  if (!isShallow(value, depthMax)) return undefined
  const bare = parseAttestation(value)
  if (bare) return { ...emptyFile, keys: { origin: bare.record.node, directory: null }, attestation: bare }
  if (!isRecord(value) || value.format !== 'assay-evidence' || !hasNames(value)) return undefined
  const { request, response, keys, payment, receipt, attestation = null } = value
  if (!isRecord(keys) || typeof keys.origin !== 'string' || typeof value.saved_at !== 'string') return undefined
  const alone = request === null && response === null
  if (!alone && !(isRequest(request) && isResponse(response))) return undefined
  if (receipt !== null && typeof receipt !== 'string') return undefined
  if (payment !== null && !isPayment(payment)) return undefined
  const given = attestation === null ? undefined : parseAttestation(attestation)
  if (attestation !== null && !given) return undefined
  const body = isResponse(response) ? (fromBase64(response.body_base64) ?? new Uint8Array()) : new Uint8Array()
  const found = given ?? attestationIn(body) ?? null
  if (alone && (!found || payment !== null || receipt !== null)) return undefined
  return { ...(value as Evidence), version: 2, payment, receipt, attestation: found }
}

const depthMax = 200

/** What is nested deeper than any file of ours would stop a verifier in the middle. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1))
}

const names = ['format', 'keys', 'payment', 'receipt', 'request', 'response', 'saved_at', 'version']

/** All of them, and no others: what is left out or misspelt would pass for not there. */
function hasNames(value: Record<string, unknown>): boolean {
  const expected = value.version === 2 ? [...names, 'attestation'] : names
  if (value.version !== 1 && value.version !== 2) return false
  return Object.keys(value).sort().join() === [...expected].sort().join()
}

const emptyFile = {
  format: 'assay-evidence',
  version: 2,
  saved_at: null,
  request: null,
  response: null,
  payment: null,
  receipt: null,
} as const

function isRequest(value: unknown): value is NonNullable<Evidence['request']> {
  if (!isRecord(value)) return false
  const { method, url, content_type, body_base64 } = value
  if (content_type !== null && typeof content_type !== 'string') return false
  // In one form only: what is signed are its parts.
  if (typeof url !== 'string' || !/^https?:/.test(url) || !URL.canParse(url) || new URL(url).href !== url) return false
  // A name before the host would read like one: nothing signs it.
  if (new URL(url).username !== '' || new URL(url).password !== '') return false
  return typeof method === 'string' && !url.includes('#') && isPlainBase64(body_base64)
}

function isResponse(value: unknown): value is NonNullable<Evidence['response']> {
  if (!isRecord(value) || !Number.isSafeInteger(value.status)) return false
  return isHeaders(value.headers) && isPlainBase64(value.body_base64)
}

function isPlainBase64(text: unknown): text is string {
  const bytes = typeof text === 'string' ? fromBase64(text) : undefined
  return bytes !== undefined && toBase64(bytes) === text
}

/** Names in small letters, values as they travel. */
function isHeaders(value: unknown): value is Record<string, string> {
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([name, text]) =>
      /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) &&
      typeof text === 'string' &&
      /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(text),
  )
}

const [word, someHex, digits] = [/^0x[0-9a-f]{64}$/, /^0x(?:[0-9a-f]{2})*$/, /^(?:0|[1-9][0-9]{0,77})$/]
const fits = (pattern: RegExp, value: unknown) => typeof value === 'string' && pattern.test(value)

function isPayment(value: unknown): value is EvidencePayment {
  if (!isRecord(value) || !isRecord(value.authorization)) return false
  const { from, to, value: amount, validAfter, validBefore, nonce } = value.authorization
  return (
    typeof value.resource === 'string' &&
    URL.canParse(value.resource) &&
    fits(/^eip155:[1-9][0-9]{0,14}$/, value.network) &&
    [value.asset, from, to].every((text) => typeof text === 'string' && isAddress(text)) &&
    [amount, validAfter, validBefore].every((text) => fits(digits, text)) &&
    fits(word, nonce) &&
    fits(someHex, value.signature) &&
    [value.asset_name, value.asset_version].every((text) => typeof text === 'string') &&
    (value.binding_salt === null || fits(word, value.binding_salt)) &&
    (value.transaction === null || fits(word, value.transaction))
  )
}
