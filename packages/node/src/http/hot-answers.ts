import type { SharedResponse } from './write-shared.ts'

/** A complete signed answer that may be written again as it is. */
export type HotAnswer = SharedResponse & {
  cost: number
  /** A 402: not given while sales are paused. */
  paid: boolean
  /** See `Handled`. */
  unavailable?(): boolean
  /** WWW-Authenticate, before the two headers that every answer ends with. */
  authenticate?(): string
  expiresAtMs: number
  usedAtMs: number
  tally: Tally
}

/** Uses of shared answers, counted here and reported to logs and metrics in bulk. */
export type Tally = { routeId: string; status: number; count: number; unlogged: number }

export type HotAnswers = {
  get(key: string, nowMs: number): HotAnswer | undefined
  /** Whether the answer is worth keeping: the same was asked for shortly before. */
  isAskedAgain(key: string): boolean
  put(key: string, answer: HotAnswer): void
  clear(): void
  bytes(): number
}

/** Identical requests may share a signature this long. */
export const sharedAnswerMsMax = 5_000
const entryBytesMax = 512 * 1024
const freshMs = 100
const askedMax = 4_096

/** Bounded in bytes; the least recently used goes first. */
export function createHotAnswers(bytesMax: number): HotAnswers {
  const answers = new Map<string, HotAnswer>()
  let bytes = 0
  let asked = new Set<string>()
  let askedBefore = asked
  const drop = (key: string, answer: HotAnswer) => {
    answers.delete(key)
    bytes -= weigh(key, answer)
  }
  // Evicts a quarter at once: iterating a Map from the start skips every deleted entry first.
  const makeRoom = () => {
    for (const [key, answer] of answers) {
      if (bytes <= bytesMax * 0.75) break
      drop(key, answer)
    }
  }
  return {
    get: (key, nowMs) => {
      const answer = answers.get(key)
      if (answer === undefined) return undefined
      if (answer.expiresAtMs <= nowMs) {
        drop(key, answer)
        return undefined
      }
      // Moving an entry to the young end on every use would cost more than it tells.
      if (nowMs - answer.usedAtMs > freshMs) {
        answer.usedAtMs = nowMs
        answers.delete(key)
        answers.set(key, answer)
      }
      return answer
    },
    // What is asked for once is never given again, and kept it would only be copied by the garbage collector.
    isAskedAgain: (key) => {
      if (asked.has(key) || askedBefore.has(key)) return true
      if (asked.size >= askedMax) {
        askedBefore = asked
        asked = new Set()
      }
      asked.add(key)
      return false
    },
    put: (key, answer) => {
      const weight = weigh(key, answer)
      if (weight > entryBytesMax || weight > bytesMax) return
      const earlier = answers.get(key)
      if (earlier) drop(key, earlier)
      answers.set(key, answer)
      bytes += weight
      if (bytes > bytesMax) makeRoom()
    },
    clear: () => {
      answers.clear()
      bytes = 0
    },
    bytes: () => bytes,
  }
}

function weigh(key: string, answer: HotAnswer): number {
  let weight = 256 + 2 * key.length + answer.body.length
  // Once more in the head that is written of them.
  for (const text of answer.headers) weight += 2 * text.length
  return weight
}

const ascii = /^[\0-\x7f]*$/

/** The body in the form that is quickest to write. */
export function hotBody(body: Uint8Array | string): Uint8Array | string {
  if (typeof body === 'string') return ascii.test(body) ? body : Buffer.from(body)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
  return ascii.test(text) ? text : body
}
