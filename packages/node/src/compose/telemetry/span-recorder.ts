import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '@assay/till/kernel/clock'
import type { Metrics, SpanAttributes } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { EndedSpan } from './encode-otlp.ts'

export type SpanRecorder = {
  span: NonNullable<Metrics['span']>
  take(max: number): EndedSpan[]
  waiting(): number
  dropped(): number
}

/** However long the collector is away, no more than this is kept; what ends then is counted and dropped. */
const waitingMax = 2_048

export function createSpanRecorder({ clock, rng }: { clock: Clock; rng: Rng }): SpanRecorder {
  const current = new AsyncLocalStorage<{ traceId: string; spanId: string }>()
  const ended: EndedSpan[] = []
  let dropped = 0
  const id = (bytes: number) => Buffer.from(rng.bytes(bytes)).toString('hex')
  const end = (span: EndedSpan) => {
    if (ended.length < waitingMax) ended.push(span)
    else dropped += 1
  }
  return {
    span: async (name, given, work) => {
      const parent = current.getStore()
      const own = { traceId: parent?.traceId ?? id(16), spanId: id(8) }
      const startMs = clock.nowMs()
      const startedMs = clock.monotonicMs()
      const attributes: SpanAttributes = { ...given }
      const finish = (failed: boolean) =>
        end({
          ...own,
          parentId: parent?.spanId,
          name,
          startMs,
          endMs: startMs + (clock.monotonicMs() - startedMs),
          attributes,
          failed,
        })
      try {
        const result = await current.run(own, () => work((more) => void Object.assign(attributes, more)))
        finish(false)
        return result
      } catch (error) {
        finish(true)
        throw error
      }
    },
    take: (max) => ended.splice(0, max),
    waiting: () => ended.length,
    dropped: () => dropped,
  }
}
