import type { RpcCall, RpcEndpoint } from '@assay/till/chain'
import { RpcRefusal } from '@assay/till/chain'
import type { Clock } from '@assay/till/kernel/clock'

/** What one endpoint said to one call. */
export type Reply = { ok: true; value: unknown } | { ok: false; refused: boolean; reason: string; data?: string }

export type TripKind = 'pin' | 'views' | 'logs' | 'recheck' | 'proof'

/** Counts round trips: all endpoints asked at once are one. */
export type Meter = Record<TripKind, number>
export const newMeter = (): Meter => ({ pin: 0, views: 0, logs: 0, recheck: 0, proof: 0 })

/** The endpoints that may speak about a chain, and how many must say the same. */
export type Panel = {
  quorum: number
  endpoints: readonly RpcEndpoint[]
  clock: Clock
}

/** Two of three, both of two, the one of one: counted over what is configured, not over what happens to answer. */
export const quorumFor = (configured: number): number => Math.min(configured, 2)

const answerMsMax = 10_000
const answered = new Error('answered')

/** One round trip: the same calls to every endpoint, one list of replies each. */
export async function askAll(panel: Panel, calls: readonly RpcCall[]): Promise<Reply[][]> {
  const patience = startPatience(panel.clock)
  try {
    return await Promise.all(panel.endpoints.map((endpoint) => askWithin(patience.over, endpoint, calls)))
  } finally {
    patience.end()
  }
}

export async function askOne(clock: Clock, endpoint: RpcEndpoint, calls: readonly RpcCall[]): Promise<Reply[]> {
  return (await askAll({ quorum: 1, endpoints: [endpoint], clock }, calls))[0] ?? []
}

/** Time for one round trip, shared by all who are asked. */
function startPatience(clock: Clock): { over: Promise<Reply>; end(): void } {
  const stop = new AbortController()
  const over = clock.sleep(answerMsMax, stop.signal).then(
    (): Reply => failed('no answer in time'),
    (): Reply => failed('stopped waiting'),
  )
  return { over, end: () => stop.abort(answered) }
}

async function askWithin(over: Promise<Reply>, endpoint: RpcEndpoint, calls: readonly RpcCall[]): Promise<Reply[]> {
  const whole = await settle(over, endpoint, calls)
  if (whole.ok) {
    const answers = whole.value as unknown
    if (!Array.isArray(answers) || answers.length !== calls.length)
      return calls.map(() => failed('wrong number of answers'))
    return answers.map((value) => ({ ok: true, value }))
  }
  // One refused call refuses its whole batch; the others may still have an answer.
  if (!whole.refused || calls.length === 1) return calls.map(() => whole)
  return await Promise.all(
    calls.map(async (call): Promise<Reply> => {
      const single = await settle(over, endpoint, [call])
      if (!single.ok) return single
      return Array.isArray(single.value) && single.value.length === 1
        ? { ok: true, value: single.value[0] }
        : failed('wrong number of answers')
    }),
  )
}

const failed = (reason: string): Reply => ({ ok: false, refused: false, reason })

function settle(over: Promise<Reply>, endpoint: RpcEndpoint, calls: readonly RpcCall[]): Promise<Reply> {
  const answer = endpoint.send(calls).then(
    (value): Reply => ({ ok: true, value }),
    (error: unknown): Reply => ({
      ok: false,
      refused: error instanceof RpcRefusal,
      reason: (error instanceof Error ? error.message : String(error)).slice(0, 200),
      ...(error instanceof RpcRefusal && typeof error.data === 'string' ? { data: error.data } : {}),
    }),
  )
  return Promise.race([answer, over])
}

export type Agreement<T> =
  | { status: 'agreed'; value: T }
  /** At least two different answers, none of them with enough votes. */
  | { status: 'disagreement' }
  | { status: 'unread'; reason: string }

/** Takes the value that enough endpoints give alike. `keyOf` gives undefined for what is no answer at all. */
export function agree<T>(panel: Panel, values: readonly (T | undefined)[], keyOf: (value: T) => string): Agreement<T> {
  const votes = new Map<string, { count: number; value: T }>()
  for (const value of values) {
    if (value === undefined) continue
    const key = keyOf(value)
    const vote = votes.get(key) ?? { count: 0, value }
    vote.count += 1
    votes.set(key, vote)
  }
  const enough = [...votes.values()].filter((vote) => vote.count >= panel.quorum)
  if (enough.length === 1 && enough[0]) return { status: 'agreed', value: enough[0].value }
  return votes.size > 1 ? { status: 'disagreement' } : { status: 'unread', reason: 'too few endpoints answered' }
}
