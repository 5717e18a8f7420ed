import type { Clock } from '../kernel/clock.ts'
import { ChainUnreadable } from './chain-port.ts'
import { hedgeAfterMs, hedgeMsMax, rankOf } from './endpoint-health.ts'
import { isHeavy, isRevert, type RpcCall, RpcRefusal } from './rpc.ts'
import type { WatchedEndpoint } from './watch-endpoint.ts'

export type OperatorAnswers = { endpoint: WatchedEndpoint; answers: unknown[] }

type Refused = { endpoint: WatchedEndpoint; error: RpcRefusal }

/** One operator that refuses decides no more than one that answers, and one that did not run the call confirms no revert. */
function refusalOf(refused: readonly Refused[], quorum: number): RpcRefusal | undefined {
  const reverted = refused.filter(({ error }) => isRevert(error))
  const others = refused.filter(({ error }) => !isRevert(error))
  const isEnough = (some: readonly Refused[]) => new Set(some.map(({ endpoint }) => endpoint.operator)).size >= quorum
  if (isEnough(reverted)) return reverted.at(-1)?.error
  return isEnough(refused) ? others.at(-1)?.error : undefined
}

export type HedgedQuestion<T> = {
  clock: Clock
  endpoints: readonly WatchedEndpoint[]
  calls: readonly RpcCall[]
  /** Operators whose answers are needed; this many are asked at once. */
  quorum: number
  chainCheckMaxAgeMs?: number
  decide(received: readonly OperatorAnswers[], complete: boolean): T | undefined
}

/** Another URL of an operator comes after the first of every other operator: it adds no vote. */
export function inTurn(endpoints: readonly WatchedEndpoint[], nowMs: number): WatchedEndpoint[] {
  const ranked = [...endpoints].sort((a, b) => rankOf(a.health(), nowMs) - rankOf(b.health(), nowMs))
  const firsts = new Map<string, WatchedEndpoint>()
  for (const endpoint of ranked) if (!firsts.has(endpoint.operator)) firsts.set(endpoint.operator, endpoint)
  const best = new Set(firsts.values())
  return [...best, ...ranked.filter((endpoint) => !best.has(endpoint))]
}

// Made once: an abort without a reason makes an exception with a stack for every read.
const over = new Error('decided')

/**
 * Asks the best endpoints, and the next one whenever one fails, answers otherwise than needed or takes longer than it
 * usually does. Resolves as soon as the answers decide; what is still on its way is not waited for.
 */
export function askHedged<T>(question: HedgedQuestion<T>): Promise<T | undefined> {
  const { clock, endpoints, calls, quorum, chainCheckMaxAgeMs, decide } = question
  return new Promise((resolve, reject) => {
    const queue = inTurn(endpoints, clock.monotonicMs())
    const pending = new Map<WatchedEndpoint, number>()
    const received: OperatorAnswers[] = []
    const refused: Refused[] = []
    const failures: string[] = []
    const done = new AbortController()
    let isOver = false

    const end = (finish: () => void) => {
      if (isOver) return
      isOver = true
      done.abort(over)
      finish()
    }
    const launch = (): boolean => {
      const endpoint = queue.shift()
      if (!endpoint) return false
      pending.set(endpoint, clock.monotonicMs())
      endpoint.ask(calls, chainCheckMaxAgeMs).then(
        (answers) => {
          pending.delete(endpoint)
          if (!received.some((earlier) => earlier.endpoint.operator === endpoint.operator))
            received.push({ endpoint, answers })
          goOn()
        },
        (error: unknown) => {
          pending.delete(endpoint)
          if (error instanceof RpcRefusal) refused.push({ endpoint, error })
          failures.push(`${endpoint.name}: ${error instanceof Error ? error.message : String(error)}`)
          goOn()
        },
      )
      return true
    }
    const goOn = () => {
      if (isOver) return
      try {
        const decided = received.length > 0 ? decide(received, false) : undefined
        if (decided !== undefined) {
          // They refused what others answered. Ranges of logs are limited differently everywhere.
          if (calls[0]?.method !== 'eth_getLogs') for (const { endpoint } of refused) endpoint.failed()
          return end(() => resolve(decided))
        }
        while (pending.size < Math.max(1, quorum - received.length) && launch());
        if (pending.size > 0) return
        if (received.length > 0) return end(() => resolve(decide(received, true)))
        end(() => reject(refusalOf(refused, quorum) ?? new ChainUnreadable(failures.join('; ').slice(0, 300))))
      } catch (error) {
        end(() => reject(error))
      }
    }
    const hedge = async () => {
      while (!isOver && queue.length > 0) {
        const ms = calls.some(isHeavy) ? hedgeMsMax : hedgeAfterMs(endpoints.map((endpoint) => endpoint.health()))
        await clock.sleep(ms, done.signal)
        const nowMs = clock.monotonicMs()
        for (const [endpoint, startedMs] of pending) if (nowMs - startedMs >= ms) endpoint.overtaken(nowMs - startedMs)
        launch()
      }
    }
    goOn()
    hedge().catch(() => {})
  })
}
