import type { Clock } from '../kernel/clock.ts'
import type { PlainResponse } from './plain.ts'
import type { SoldRequest } from './sold-request.ts'

/** Signatures are shared as long. */
const sharedMsMax = 5_000
const entriesMax = 1_024
const keyLengthMax = 1_024

/** Headers that can make the answer to an unpaid GET differ, beside `accept`. */
const deciding = [
  'payment-signature',
  'x-payment',
  'payment-authorization',
  'authorization',
  'sign-in-with-x',
  'signature',
  'content-length',
  'transfer-encoding',
  'content-encoding',
]

/** The signed 402s of the last seconds: identical unpaid requests get the same bytes. */
export function createSharedChallenges(clock: Clock) {
  const kept = new Map<string, { response: PlainResponse; atMs: number }>()
  return {
    /** Undefined where the answer may not be shared. */
    keyOf({ method, path, query, header }: SoldRequest): string | undefined {
      if (method !== 'GET') return undefined
      for (const name of deciding) if (header(name) !== undefined) return undefined
      const key = `${path}${query} ${header('accept') ?? ''}`
      return key.length > keyLengthMax ? undefined : key
    },
    find(key: string): PlainResponse | undefined {
      const known = kept.get(key)
      if (known === undefined || clock.monotonicMs() - known.atMs >= sharedMsMax) return undefined
      const { status, headers, body, authenticate } = known.response
      return authenticate
        ? { status, headers: headers.slice(), body, authenticate }
        : { status, headers: headers.slice(), body }
    },
    keep(key: string, response: PlainResponse): void {
      kept.delete(key)
      kept.set(key, { response: { ...response, headers: [...response.headers] }, atMs: clock.monotonicMs() })
      if (kept.size > entriesMax) kept.delete(kept.keys().next().value as string)
    },
    clear: () => kept.clear(),
  }
}

export type SharedChallenges = ReturnType<typeof createSharedChallenges>
