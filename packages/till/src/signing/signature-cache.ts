import type { ResponseToSign, SignatureHeaders } from './signer.ts'
import type { PrivateSigningKey } from './signing-key.ts'

export type SignatureCache = {
  find(response: ResponseToSign, key: PrivateSigningKey, nowMs: number): SignatureHeaders | undefined
  keep(response: ResponseToSign, key: PrivateSigningKey, nowMs: number, headers: SignatureHeaders): void
}

const keptTargetMax = 1_024

type Entry = {
  response: ResponseToSign
  key: PrivateSigningKey
  signedAtMs: number
  headers: SignatureHeaders
}

/**
 * Remembers the last signature per request, compared over every covered part. The long parts (digest, payment-required)
 * are compared instead of hashed: callers pass the same strings again, so that costs next to nothing.
 * Two generations bound the size without bookkeeping per entry.
 */
export function createSignatureCache(limits: { shareMs: number; entriesMax: number }): SignatureCache {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()

  return {
    find: (response, key, nowMs) => {
      if (isPaid(response)) return undefined
      const name = requestKey(response)
      const entry = young.get(name) ?? old.get(name)
      if (entry === undefined || entry.key !== key) return undefined
      const age = nowMs - entry.signedAtMs
      if (age < 0 || age >= limits.shareMs || !sameAnswer(entry.response, response)) return undefined
      return entry.headers
    },
    keep: (response, key, nowMs, headers) => {
      // A settled payment is answered once, so its signature would only push useful ones out.
      if (limits.shareMs <= 0 || isPaid(response)) return
      // Long targets are of a stranger's making, and as many as it likes.
      if (response.path.length + response.query.length > keptTargetMax) return
      if (young.size >= limits.entriesMax / 2) {
        old = young
        young = new Map()
      }
      const { bodySha256 } = response
      // Copied, since the caller may reuse its buffer and a later comparison must see what was signed.
      const copy = { ...response, bodySha256: bodySha256 === undefined ? undefined : Uint8Array.from(bodySha256) }
      young.set(requestKey(response), { response: copy, key, signedAtMs: nowMs, headers })
    },
  }
}

const isPaid = ({ paymentResponse, paymentReceipt }: ResponseToSign): boolean =>
  paymentResponse !== undefined || paymentReceipt !== undefined

/** Unambiguous because no part can hold a line break: the signer refuses those before anything is kept. */
function requestKey(response: ResponseToSign): string {
  return `${response.method}\n${response.authority}\n${response.path}\n${response.query}`
}

function sameAnswer(a: ResponseToSign, b: ResponseToSign): boolean {
  return (
    a.status === b.status &&
    a.contentType === b.contentType &&
    a.paymentRequired === b.paymentRequired &&
    sameDigest(a.bodySha256, b.bodySha256)
  )
}

function sameDigest(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return Buffer.compare(a, b) === 0
}
