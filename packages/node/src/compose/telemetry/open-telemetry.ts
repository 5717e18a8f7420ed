import { serviceVersion } from '../../http/node-site.ts'
import type { Ports } from '../infrastructure.ts'
import { encodeMetrics, encodeSpans } from './encode-otlp.ts'
import { type OtlpSettings, otlpSender } from './otlp-adapter.ts'
import { createSpanRecorder } from './span-recorder.ts'

const everyMs = 5_000
const metricsEveryTurns = 3
const spansPerRequest = 512
const requestsPerTurn = 4
const timeoutMs = 3_000

/** Sends spans and metrics to a collector, one request at a time, beside everything else. Loaded only where one is named. */
export function openTelemetry(settings: OtlpSettings, ports: Ports): { ports: Ports; stop(): Promise<void> } {
  const { clock, rng, log, metrics } = ports
  const send = otlpSender(settings, timeoutMs)
  const recorder = createSpanRecorder({ clock, rng })
  const instance = Buffer.from(rng.bytes(8)).toString('hex')
  const resource = { serviceName: settings.serviceName, version: serviceVersion, instance }
  const startMs = clock.nowMs()
  let isDown = false
  const note = (taken: boolean) => {
    metrics.count('telemetry_exports', { outcome: taken ? 'taken' : 'failed' })
    if (!taken && !isDown) log.warn({}, 'the collector of traces and metrics does not take them; they are dropped')
    isDown = !taken
    return taken
  }
  const exportSpans = async () => {
    for (let request = 0; request < requestsPerTurn && recorder.waiting() > 0; request += 1)
      if (!note(await send('/v1/traces', encodeSpans(resource, recorder.take(spansPerRequest))))) return
  }
  const exportMetrics = async () => {
    metrics.gauge('telemetry_dropped_spans', recorder.dropped())
    note(
      await send('/v1/metrics', encodeMetrics(resource, await metrics.families(), { startMs, nowMs: clock.nowMs() })),
    )
  }
  const stopped = new AbortController()
  const work = (async () => {
    for (let turn = 1; !stopped.signal.aborted; turn += 1) {
      await clock.sleep(everyMs, stopped.signal).catch(() => {})
      await exportSpans()
      // A collector that is away holds up no stop.
      if (stopped.signal.aborted ? !isDown : turn % metricsEveryTurns === 0) await exportMetrics()
    }
  })().catch((error: unknown) => log.error({ error: String(error) }, 'traces and metrics are no longer exported'))
  return {
    ports: { ...ports, metrics: { ...metrics, span: recorder.span } },
    stop: async () => {
      stopped.abort(new Error('the node stops'))
      await work
    },
  }
}
