import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import { isStream } from '@assay/till/selling'
import { clientAddress } from './client-address.ts'
import type { Handled, Readiness } from './handle.ts'
import { createHotAnswers, hotBody, type Tally } from './hot-answers.ts'
import { createSummaryReader } from './hot-key.ts'
import type { Limiter } from './limits.ts'
import type { RouteDeclaration } from './route.ts'
import type { SharedResponse } from './write-shared.ts'

export type SharedAnswers = {
  /** The signed answer that identical requests just got, or undefined: then the request takes the long way. */
  find(method: string, target: string, rawHeaders: readonly string[], peer: string): SharedResponse | undefined
  keep(key: string | undefined, route: RouteDeclaration | undefined, handled: Handled): void
  /** Tells logs and metrics what was answered from memory since the last time. */
  flush(): void
  clear(): void
}

export type SharedAnswersDeps = {
  clock: Clock
  log: Log
  metrics: Metrics
  limiter: Limiter
  readiness: Readiness
  requestId(incoming: string | undefined): string
  trustedHops: number
  bytesMax: number
}

const logEveryMs = 1_000

/**
 * Unpaid probes and free documents come in floods of identical requests. They are answered without parsing,
 * signing or promises; the caller's limit still applies first, and only request id, RateLimit and challenges differ.
 */
export function createSharedAnswers(deps: SharedAnswersDeps): SharedAnswers {
  const { clock, limiter, readiness } = deps
  const hot = createHotAnswers(deps.bytesMax)
  const readSummary = createSummaryReader()
  const tallies = new Map<string, Tally>()
  let loggedAtMs = clock.monotonicMs()

  const flush = () => {
    const nowMs = clock.monotonicMs()
    const logNow = nowMs - loggedAtMs > logEveryMs
    if (logNow) loggedAtMs = nowMs
    for (const tally of tallies.values()) {
      const { routeId, status, count } = tally
      if (count > 0) deps.metrics.count('http_requests', { route: routeId, status: String(status) }, count)
      tally.count = 0
      tally.unlogged += count
      if (!logNow || tally.unlogged === 0) continue
      // One line for many: a flood of probes must not become a flood of log lines.
      deps.log.info({ route: routeId, status, count: tally.unlogged }, 'requests answered from memory')
      tally.unlogged = 0
    }
  }

  return {
    find: (method, target, rawHeaders, peer) => {
      const seen = readSummary(method, target, rawHeaders)
      if (seen.key === undefined) return undefined
      const nowMs = clock.monotonicMs()
      const answer = hot.get(seen.key, nowMs)
      if (answer === undefined || (answer.paid && readiness.refusal() !== undefined) || answer.unavailable?.())
        return undefined
      const bucket = limiter.bucketOf(clientAddress(peer, seen.forwardedFor, deps.trustedHops))
      if (!limiter.spend(bucket, answer.cost)) return undefined
      answer.tally.count += 1
      if (nowMs - loggedAtMs > logEveryMs) flush()
      const { headers } = answer
      if (answer.authenticate) headers[headers.length - 5] = answer.authenticate()
      headers[headers.length - 3] = deps.requestId(seen.requestId)
      headers[headers.length - 1] = limiter.header(bucket)
      answer.atMs = nowMs
      return answer
    },
    keep: (key, route, { response, shareMs, paid, unavailable }) => {
      if (key === undefined || shareMs <= 0 || isStream(response.body) || !hot.isAskedAgain(key)) return
      const { status, headers, body, authenticate } = response
      const nowMs = clock.monotonicMs()
      hot.put(key, {
        status,
        headers: [...headers, ...(authenticate ? ['WWW-Authenticate', ''] : []), 'X-Request-Id', '', 'RateLimit', ''],
        changing: authenticate ? 3 : 2,
        body: hotBody(body),
        atMs: nowMs,
        cost: route?.cost ?? 1,
        paid,
        ...(unavailable && { unavailable }),
        ...(authenticate && { authenticate }),
        expiresAtMs: nowMs + shareMs,
        usedAtMs: nowMs,
        tally: tallyOf(tallies, route?.id ?? 'none', status),
      })
    },
    flush,
    clear: () => hot.clear(),
  }
}

function tallyOf(tallies: Map<string, Tally>, routeId: string, status: number): Tally {
  const name = `${routeId} ${status}`
  const tally = tallies.get(name) ?? { routeId, status, count: 0, unlogged: 0 }
  tallies.set(name, tally)
  return tally
}
