import { isLoopbackIp } from '@assay/protocol/loopback'
import type { ReadinessCheck } from '@assay/till/compose'
import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { availabilityOf, jsonAnswer } from '@assay/till/selling'
import { z } from 'zod'
import type { PrometheusMetrics } from '../../http/metrics.ts'
import { defineRoute, type RouteDeclaration } from '../../http/route.ts'

export type OpsDeps = {
  checks: readonly ReadinessCheck[]
  /** Of which the node says what is not for sale. */
  routes: readonly RouteDeclaration[]
  metrics: PrometheusMetrics
  /** Otherwise only callers on this machine see /metrics. */
  metricsPublic: boolean
  clock: Clock
}

const checkMsMax = 3_000
const checksSchema = z.record(z.string(), z.enum(['ok', 'failed']))

export function opsRoutes(deps: OpsDeps): RouteDeclaration[] {
  return [livez, readyz(deps), metricsRoute(deps)]
}

const livez = defineRoute({
  id: 'ops.livez',
  area: 'core',
  method: 'GET',
  path: '/livez',
  anyHost: true,
  summary: 'The process is up',
  output: z.strictObject({ status: z.literal('ok') }),
  example: { output: { status: 'ok' } },
  next: '/readyz',
  cost: 0,
  access: { kind: 'free', handle: async () => jsonAnswer({ status: 'ok' }) },
})

function readyz(deps: OpsDeps): RouteDeclaration {
  return defineRoute({
    id: 'ops.readyz',
    area: 'core',
    method: 'GET',
    path: '/readyz',
    anyHost: true,
    summary: 'The node can take payments and answer, check by check',
    description:
      'A failed check of a single shop leaves the node ready: `not_for_sale` has the routes that are not sold meanwhile, and why.',
    output: z.strictObject({
      status: z.literal('ready'),
      checks: checksSchema,
      not_for_sale: z.array(
        z.strictObject({ route: z.string(), why: z.string(), detail: z.string(), since: z.string() }),
      ),
    }),
    example: { output: { status: 'ready', checks: { database: 'ok' }, not_for_sale: [] } },
    next: '/',
    cost: 0,
    access: {
      kind: 'free',
      handle: async (_input, call) => {
        const results = await Promise.all(deps.checks.map((check) => runCheck(deps.clock, check, call.signal)))
        const checks = Object.fromEntries(results)
        if (results.some(([, result], index) => result === 'failed' && !deps.checks[index]?.partial))
          throw new Problem('not_ready', { extra: { checks }, retryAfterSeconds: 2 })
        const notForSale = deps.routes.flatMap((route) => {
          const reason = availabilityOf(route)
          return reason === undefined ? [] : [{ route: route.id, ...reason }]
        })
        return jsonAnswer({ status: 'ready', checks, not_for_sale: notForSale })
      },
    },
  })
}

async function runCheck(clock: Clock, check: ReadinessCheck, signal: AbortSignal): Promise<[string, 'ok' | 'failed']> {
  const done = new AbortController()
  const late = clock.sleep(checkMsMax, done.signal).then(
    () => false,
    () => false,
  )
  try {
    return [check.name, (await Promise.race([check.check(signal), late])) ? 'ok' : 'failed']
  } catch {
    return [check.name, 'failed']
  } finally {
    done.abort()
  }
}

function metricsRoute(deps: OpsDeps): RouteDeclaration {
  return defineRoute({
    id: 'ops.metrics',
    area: 'core',
    method: 'GET',
    path: '/metrics',
    anyHost: true,
    summary: 'Prometheus metrics',
    representations: ['text/plain'],
    output: z.string(),
    example: { output: '# HELP assay_http_requests_total http requests' },
    next: '/readyz',
    hidden: true,
    cost: 0,
    access: {
      kind: 'free',
      handle: async (_input, call) => {
        // A proxy on this machine makes every caller look local; what it forwards for is not.
        const forwarded = call.headers.has('x-forwarded-for') || call.headers.has('forwarded')
        if (!deps.metricsPublic && (forwarded || !isLoopbackIp(call.remoteAddress))) throw new Problem('not_found')
        return { status: 200, contentType: deps.metrics.contentType, body: await deps.metrics.text() }
      },
    },
  })
}
