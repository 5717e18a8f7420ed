import type { ResponseToSign, SignatureHeaders } from './signer.ts'
import type { PrivateSigningKey } from './signing-key.ts'

/** A response, its content digest as the header has it, and the key that signs it. */
export type Signing = { response: ResponseToSign; digest: string | undefined; key: PrivateSigningKey; nowMs: number }

export type SignatureCache = {
  find(signing: Signing): SignatureHeaders | undefined
  keep(signing: Signing, headers: SignatureHeaders): void
}

const keptTargetMax = 1_024

/** What was signed, but for the request, which is the name it is kept under. */
type Entry = {
  status: number
  contentType: string
  paymentRequired: string | undefined
  digest: string | undefined
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
    find: ({ response, digest, key, nowMs }) => {
      if (isPaid(response)) return undefined
      const name = requestKey(response)
      const entry = young.get(name) ?? old.get(name)
      if (entry === undefined || entry.key !== key) return undefined
      const age = nowMs - entry.signedAtMs
      if (age < 0 || age >= limits.shareMs || entry.digest !== digest || !sameHead(entry, response)) return undefined
      return entry.headers
    },
    keep: ({ response, digest, key, nowMs }, headers) => {
      // A settled payment is answered once, so its signature would only push useful ones out.
      if (limits.shareMs <= 0 || isPaid(response)) return
      // Long targets are of a stranger's making, and as many as it likes.
      if (response.path.length + response.query.length > keptTargetMax) return
      if (young.size >= limits.entriesMax / 2) {
        old = young
        young = new Map()
      }
      const { status, contentType, paymentRequired } = response
      young.set(requestKey(response), {
        status,
        contentType,
        paymentRequired,
        digest,
        key,
        signedAtMs: nowMs,
        headers,
      })
    },
  }
}

const isPaid = ({ paymentResponse, paymentReceipt }: ResponseToSign): boolean =>
  paymentResponse !== undefined || paymentReceipt !== undefined

/** Unambiguous because no part can hold a line break: the signer refuses those before anything is kept. */
function requestKey(response: ResponseToSign): string {
  return `${response.method}\n${response.authority}\n${response.path}\n${response.query}`
}

function sameHead(entry: Entry, response: ResponseToSign): boolean {
  return (
    entry.status === response.status &&
    entry.contentType === response.contentType &&
    entry.paymentRequired === response.paymentRequired
  )
}
