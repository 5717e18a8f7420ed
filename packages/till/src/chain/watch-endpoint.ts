import type { Clock } from '../kernel/clock.ts'
import { type Log, silentLog } from '../kernel/log.ts'
import { type Metrics, silentMetrics, traced } from '../kernel/metrics.ts'
import { createCallBudget } from './call-budget.ts'
import { ChainUnreadable } from './chain-port.ts'
import {
  afterAnswer,
  afterAnyAnswer,
  afterContradiction,
  afterFailure,
  afterOvertaken,
  type Health,
  isPaused,
  newHealth,
} from './endpoint-health.ts'
import { isHeavy, operatorOf, type RpcCall, type RpcEndpoint, RpcRateLimited, RpcRefusal } from './rpc.ts'

export type WatchOptions = {
  clock: Clock
  /** What eth_chainId must say; not asked for without it. */
  chainId?: number
  /** More than this many are not asked of it: others are, or the caller fails. */
  callsPerMinute?: number
  log?: Log
  metrics?: Metrics
}

/** An endpoint whose answers are measured. `send` rejects at once while it is paused; `ask` asks all the same. */
export type WatchedEndpoint = RpcEndpoint & {
  readonly operator: string
  health(): Health
  /** `chainCheckMaxAgeMs`: how long ago it may have shown at most that it answers for our chain. Zero: it shows it with the answer. */
  ask(calls: readonly RpcCall[], chainCheckMaxAgeMs?: number): Promise<unknown[]>
  /** Asks for nothing but its chain, so that its health is known. */
  probe(): void
  failed(): void
  overtaken(ms: number): void
  contradicted(): void
}

const vettedMs = 600_000

export function watchEndpoint(endpoint: RpcEndpoint, options: WatchOptions): WatchedEndpoint {
  const { clock, log = silentLog, metrics = silentMetrics } = options
  let health = newHealth(clock.monotonicMs())
  const budget = createCallBudget(clock, options.callsPerMinute)
  const { vet, requireChain } = createVetting(endpoint, options, () => void budget.take(1, true))

  const fail = (error?: unknown) => {
    const { reason, limit } = failureOf(error)
    const wasPaused = isPaused(health, clock.monotonicMs())
    health = afterFailure(health, clock.monotonicMs(), limit)
    if (wasPaused || !isPaused(health, clock.monotonicMs())) return
    metrics.count('rpc_endpoint_pauses', { endpoint: endpoint.name, reason })
    log.warn({ endpoint: endpoint.name, reason, ms: health.pauseMs }, 'an RPC endpoint is paused')
  }

  const sent = (calls: readonly RpcCall[]) =>
    traced(metrics, `rpc ${calls[0]?.method ?? ''}`, { endpoint: operatorOf(endpoint), calls: calls.length }, () =>
      endpoint.send(calls),
    )
  const ask = async (calls: readonly RpcCall[], chainCheckMaxAgeMs = vettedMs) => {
    // A signed transaction is on its way already: whatever keeps it from the chain costs more than a call too many.
    const isUrgent = calls.some(({ method }) => method === 'eth_sendRawTransaction')
    const isProven = chainCheckMaxAgeMs === 0 && options.chainId !== undefined
    if (!budget.take(calls.length + (isProven ? 1 : 0), isUrgent)) {
      metrics.count('rpc_over_budget', { endpoint: endpoint.name })
      // Asked last until there is room again; it did nothing wrong.
      const pausedUntilMs = clock.monotonicMs() + budget.waitMs(calls.length)
      health = { ...health, pausedUntilMs: Math.max(health.pausedUntilMs, pausedUntilMs) }
      throw new ChainUnreadable(`${endpoint.name} has had its calls of this minute`)
    }
    const startedMs = clock.monotonicMs()
    try {
      const answers = isProven ? await proven(calls) : (await Promise.all([sent(calls), vet(chainCheckMaxAgeMs)]))[0]
      measure(calls, startedMs)
      return answers
    } catch (error) {
      if (error instanceof RpcRefusal && !isRateLimit(error)) measure(calls, startedMs)
      else fail(error)
      throw error
    }
  }
  /** In one request with the chain id, so that both come from the same chain. */
  const proven = async (calls: readonly RpcCall[]) => {
    const answers = await sent([...calls, chainIdCall]).catch(async (error: unknown) => {
      // What it refuses on another chain says nothing of ours.
      if (error instanceof RpcRefusal) await vet(0)
      throw error
    })
    requireChain(answers[calls.length])
    return answers.slice(0, calls.length)
  }
  const measure = (calls: readonly RpcCall[], startedMs: number) => {
    const nowMs = clock.monotonicMs()
    if (calls.some(isHeavy)) health = afterAnyAnswer(health, nowMs)
    else health = afterAnswer(health, nowMs - startedMs, nowMs)
  }

  return {
    name: endpoint.name,
    operator: operatorOf(endpoint),
    health: () => health,
    send: (calls) =>
      isPaused(health, clock.monotonicMs())
        ? Promise.reject(new ChainUnreadable(`${endpoint.name} is paused after failures`))
        : ask(calls),
    ask,
    probe: () => {
      // Counted as measured at once: one probe at a time.
      health = { ...health, measuredAtMs: clock.monotonicMs() }
      ask(options.chainId === undefined ? [chainIdCall] : [], 0).catch(() => {})
    },
    failed: () => fail(),
    overtaken: (ms) => {
      health = afterOvertaken(health, ms)
    },
    contradicted: () => {
      health = afterContradiction(health, clock.monotonicMs())
      metrics.count('rpc_endpoint_contradictions', { endpoint: endpoint.name })
    },
  }
}

/** Why an endpoint did not answer, and for how long to leave it alone where it said so. */
function failureOf(error: unknown): { reason: string; limit?: { retryAfterMs: number | undefined } } {
  if (error instanceof WrongChain) return { reason: 'wrong_chain', limit: { retryAfterMs: wrongChainPauseMs } }
  if (error instanceof RpcRateLimited) return { reason: 'rate_limited', limit: { retryAfterMs: error.retryAfterMs } }
  if (error instanceof RpcRefusal && isRateLimit(error))
    return { reason: 'rate_limited', limit: { retryAfterMs: undefined } }
  return { reason: 'no_answer' }
}

/** The wording of providers that limit callers without HTTP 429. */
const isRateLimit = ({ code, message }: RpcRefusal) =>
  code === 429 || /rate.?limit|too many requests|request limit|throughput|quota|capacity/i.test(message)

const wrongChainPauseMs = 60_000

/** The endpoint answers for another chain. */
class WrongChain extends ChainUnreadable {
  override readonly name = 'WrongChain'
}

const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

/** Which chain an endpoint answers for is asked beside its first call, and again when that was too long ago. */
function createVetting(
  endpoint: RpcEndpoint,
  { clock, chainId, log = silentLog, metrics = silentMetrics }: WatchOptions,
  onAsked: () => void,
): { vet(chainCheckMaxAgeMs: number): Promise<void>; requireChain(answer: unknown): void } {
  if (chainId === undefined) return { vet: async () => {}, requireChain: () => {} }
  let vettedAtMs = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined
  const requireChain = (answer: unknown) => {
    if (Number(answer) === chainId) {
      vettedAtMs = clock.monotonicMs()
      return
    }
    vettedAtMs = Number.NEGATIVE_INFINITY
    metrics.count('alarms', { alarm: 'rpc_wrong_chain' })
    const found = String(answer).slice(0, 20)
    log.error({ endpoint: endpoint.name, found, expected: chainId }, 'an RPC endpoint answers for another chain')
    throw new WrongChain(`answers for chain ${found}, expected ${chainId}`)
  }
  const run = async () => {
    onAsked()
    const [answer] = await endpoint.send([chainIdCall])
    requireChain(answer)
  }
  return {
    requireChain,
    vet: async (chainCheckMaxAgeMs) => {
      if (clock.monotonicMs() - vettedAtMs < chainCheckMaxAgeMs) return
      running ??= run().finally(() => {
        running = undefined
      })
      await running
    },
  }
}
