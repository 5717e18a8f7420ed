import { fromBase64 } from '../base64.ts'
import { latin1 } from '../bytes.ts'
import { verifyEd25519 } from '../ed25519.ts'
import { type KeySet, readDirectory, type TrustedKey } from '../keys/key-directory.ts'
import { type CoveredComponent, contentDigest, signatureBase } from './signature-base.ts'
import { parseResponseSignatureInput, type SignatureInput } from './signature-input.ts'

/** `unknown_key` is apart from `invalid`: reading the directory may help. */
export type Verification =
  | { status: 'verified'; keyId: string; created: number; expires: number; stream: boolean }
  | { status: 'unsigned' }
  | { status: 'unknown_key'; keyId: string }
  | { status: 'invalid'; reason: string }

export type SentRequest = { method: string; url: string }

export type ReceivedResponse = {
  status: number
  headers: Headers
  /** The raw bytes; undefined for a stream, whose events carry their own signatures. */
  body: Uint8Array<ArrayBuffer> | undefined
}

export type VerifyOptions = {
  /** Given keys, or the JSON of the node's key directory. */
  keys?: KeySet
  directory?: unknown
  nowMs: number
  skewSeconds?: number
}

/** Checks a node's RFC 9421 signature over the response and the request that was really sent. */
export async function verifyResponse(
  request: SentRequest,
  response: ReceivedResponse,
  options: VerifyOptions,
): Promise<Verification> {
  const header = response.headers.get('signature-input')
  const signatureHeader = response.headers.get('signature')
  if (header === null || signatureHeader === null) return { status: 'unsigned' }
  const input = parseResponseSignatureInput(header)
  if (input === undefined) return invalid('Signature-Input is not in the form nodes write')
  const stream = response.body === undefined
  const problem = checkCovered(input, response, stream) ?? checkTimes(input, options)
  if (problem !== undefined) return invalid(problem)
  const keyId = String(input.params.get('keyid'))
  const key = keySet(options).get(keyId)
  if (key === undefined) return { status: 'unknown_key', keyId }
  const created = input.params.get('created') as number
  if (!coversTime(key, created, options.skewSeconds ?? 60)) return invalid('the key was not valid when this was signed')
  if (response.body !== undefined && !(await digestFits(response.headers, response.body)))
    return invalid('Content-Digest does not fit the body')
  const signature = signatureBytes(signatureHeader, input.label)
  const parts = coveredParts(input, request, response)
  if (signature === undefined || parts === undefined) return invalid('a covered part is missing')
  if (!(await verifyEd25519(key.x, latin1(signatureBase(parts, input.inner)), signature)))
    return invalid('the signature does not fit')
  return { status: 'verified', keyId, created, expires: input.params.get('expires') as number, stream }
}

function invalid(reason: string): Verification {
  return { status: 'invalid', reason }
}

function keySet({ keys, directory }: VerifyOptions): KeySet {
  return keys ?? new Map(readDirectory(directory).keys.map((key) => [key.keyId, key]))
}

const requestParts = ['"@method";req', '"@authority";req', '"@path";req', '"@query";req']

function checkCovered(input: SignatureInput, response: ReceivedResponse, stream: boolean): string | undefined {
  const required = ['"@status"', '"content-type"', ...requestParts]
  if (!stream) required.push('"content-digest"')
  for (const name of ['payment-required', 'payment-response', 'payment-receipt'])
    if (response.headers.has(name)) required.push(`"${name}"`)
  const missing = required.filter((component) => !input.components.includes(component))
  if (missing.length > 0) return `not covered: ${missing.join(' ')}`
  if (input.params.get('alg') !== 'ed25519') return 'alg is not ed25519'
  const tag = stream ? 'x402-stream' : 'x402-response'
  return input.params.get('tag') === tag ? undefined : `tag is not ${tag}`
}

function checkTimes(input: SignatureInput, { nowMs, skewSeconds = 60 }: VerifyOptions): string | undefined {
  const created = input.params.get('created')
  const expires = input.params.get('expires')
  const now = nowMs / 1000
  if (typeof created !== 'number' || typeof expires !== 'number') return 'created or expires is missing'
  if (created > now + skewSeconds) return 'created is in the future'
  return expires < now - skewSeconds ? 'the signature has expired' : undefined
}

export function coversTime(key: TrustedKey, seconds: number, skewSeconds: number): boolean {
  return seconds >= key.notBefore - skewSeconds && (key.notAfter === undefined || seconds <= key.notAfter)
}

async function digestFits(headers: Headers, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', body))
  return headers.get('content-digest') === contentDigest(digest)
}

function signatureBytes(header: string, label: string): Uint8Array<ArrayBuffer> | undefined {
  const prefix = `${label}=:`
  return header.startsWith(prefix) && header.endsWith(':') ? fromBase64(header.slice(prefix.length, -1)) : undefined
}

function coveredParts(
  input: SignatureInput,
  request: SentRequest,
  response: ReceivedResponse,
): CoveredComponent[] | undefined {
  const url = new URL(request.url)
  const requestValues: Record<string, string> = {
    '"@method";req': request.method,
    '"@authority";req': url.host,
    '"@path";req': url.pathname,
    '"@query";req': url.search === '' ? '?' : url.search,
  }
  const parts: CoveredComponent[] = []
  for (const id of input.components) {
    const value = id === '"@status"' ? String(response.status) : (requestValues[id] ?? headerOf(response, id))
    if (value === undefined) return undefined
    parts.push({ id, value })
  }
  return parts
}

/** Undefined for what is no header of the response: other derived components, and headers of the request. */
function headerOf({ headers }: ReceivedResponse, id: string): string | undefined {
  return id.startsWith('"@') || id.endsWith(';req') ? undefined : headers.get(id.slice(1, -1))?.trim()
}
