import type { Clock } from '../kernel/clock.ts'
import type { Keyring } from './keyring.ts'
import { createSignatureCache, type Signing } from './signature-cache.ts'
import type { ResponseSigner, ResponseToSign, SignatureHeaders } from './signer.ts'
import { type PrivateSigningKey, signEd25519 } from './signing-key.ts'

export type ResponseSignerOptions = {
  clock: Clock
  /** How long a verifier may take a signature; far beyond the life of a shared one. */
  validSeconds?: number
  /** Identical answers to identical requests share a signature for this long; 0 signs each one again. */
  shareMs?: number
  shareEntriesMax?: number
}

const requestParts = '"@method";req "@authority";req "@path";req "@query";req'

/** The component lists of all kinds of answers, made once. */
const componentLists = new Map<number, string>()
for (let kind = 0; kind < 16; kind += 1) {
  const names = ['"@status"']
  if (kind & 1) names.push('"content-digest"')
  names.push('"content-type"')
  if (kind & 2) names.push('"payment-required"')
  if (kind & 4) names.push('"payment-response"')
  if (kind & 8) names.push('"payment-receipt"')
  componentLists.set(kind, `(${names.join(' ')} ${requestParts})`)
}

/** RFC 9421 response signatures, written by hand because every answer passes here. */
export function createResponseSigner(keyring: Keyring, options: ResponseSignerOptions): ResponseSigner {
  const { clock, validSeconds = 300, shareMs = 5_000, shareEntriesMax = 4_096 } = options
  const cache = createSignatureCache({ shareMs, entriesMax: shareEntriesMax })
  let tailSecond = -1
  let tailKey: PrivateSigningKey | undefined
  let tailStart = ''

  const tail = (key: PrivateSigningKey, nowMs: number): string => {
    const second = Math.floor(nowMs / 1000)
    if (second !== tailSecond || key !== tailKey) {
      tailSecond = second
      tailKey = key
      tailStart = `;created=${second};expires=${second + validSeconds};keyid="${key.keyId}";alg="ed25519";tag="x402-`
    }
    return tailStart
  }

  return {
    sign: (response) => {
      const key = keyring.active()
      const nowMs = clock.nowMs()
      const signing = { response, digest: digestOf(response), key, nowMs }
      const shared = cache.find(signing)
      if (shared !== undefined) return shared
      const headers = signFresh(signing, tail(key, nowMs))
      cache.keep(signing, headers)
      return headers
    },
    keyId: () => keyring.active().keyId,
    signBytes: (bytes) => {
      const key = keyring.active()
      return { signature: signEd25519(key, bytes), keyId: key.keyId }
    },
  }
}

/** In native code: what the protocol writes for browsers too makes a string for each character. */
function digestOf({ bodySha256: hash }: ResponseToSign): string | undefined {
  if (hash === undefined) return undefined
  return `sha-256=:${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('base64')}:`
}

function signFresh({ response, digest, key }: Signing, tail: string): SignatureHeaders {
  refuseLineBreaks(response)
  const { paymentRequired, paymentResponse, paymentReceipt } = response
  const kind =
    (digest === undefined ? 0 : 1) |
    (paymentRequired === undefined ? 0 : 2) |
    (paymentResponse === undefined ? 0 : 4) |
    (paymentReceipt === undefined ? 0 : 8)
  const inner = `${componentLists.get(kind)}${tail}${digest === undefined ? 'stream' : 'response'}"`

  let base = `"@status": ${response.status}\n`
  if (digest !== undefined) base += `"content-digest": ${digest}\n`
  base += `"content-type": ${response.contentType}\n`
  if (paymentRequired !== undefined) base += `"payment-required": ${paymentRequired}\n`
  if (paymentResponse !== undefined) base += `"payment-response": ${paymentResponse}\n`
  if (paymentReceipt !== undefined) base += `"payment-receipt": ${paymentReceipt}\n`
  base += `"@method";req: ${response.method}\n"@authority";req: ${response.authority}\n`
  base += `"@path";req: ${response.path}\n"@query";req: ${response.query}\n"@signature-params": ${inner}`

  const signature = `sig=:${signEd25519(key, Buffer.from(base, 'latin1')).toString('base64')}:`
  const headers: SignatureHeaders = { 'signature-input': `sig=${inner}`, signature }
  return digest === undefined ? headers : { 'content-digest': digest, ...headers }
}

const lineBreak = /[\r\n]/

/** A line break inside a part would let it pose as another component of the signature base. */
function refuseLineBreaks(response: ResponseToSign): void {
  const { method, authority, path, query, contentType } = response
  const { paymentRequired = '', paymentResponse = '', paymentReceipt = '' } = response
  for (const part of [method, authority, path, query, contentType, paymentRequired, paymentResponse, paymentReceipt])
    if (lineBreak.test(part)) throw new RangeError('a signed part contains a line break')
}
