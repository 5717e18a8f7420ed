import type { SpanAttributes } from '@assay/till/kernel/metrics'
import type { PrometheusMetrics } from '../../http/index.ts'

/** A span that has ended. */
export type EndedSpan = {
  traceId: string
  spanId: string
  parentId: string | undefined
  name: string
  startMs: number
  endMs: number
  attributes: SpanAttributes
  failed: boolean
}

type Families = Awaited<ReturnType<PrometheusMetrics['families']>>

/** OTLP 1.x as JSON: ids in hex, 64-bit numbers as text. */
const nanos = (ms: number) => (BigInt(Math.round(ms * 1_000)) * 1_000n).toString()

const attributesOf = (attributes: SpanAttributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'number'
        ? Number.isInteger(value)
          ? { intValue: String(value) }
          : { doubleValue: value }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : { stringValue: value },
  }))

export type Resource = { serviceName: string; version: string; instance: string }

const resourceOf = ({ serviceName, version, instance }: Resource) => ({
  attributes: attributesOf({
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': instance,
  }),
})
const scope = { name: 'assay' }
const [serverKind, internalKind] = [2, 1]

export function encodeSpans(resource: Resource, spans: readonly EndedSpan[]): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: resourceOf(resource),
        scopeSpans: [
          {
            scope,
            spans: spans.map((span) => ({
              traceId: span.traceId,
              spanId: span.spanId,
              ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
              name: span.name,
              kind: span.parentId === undefined && span.name === 'request' ? serverKind : internalKind,
              startTimeUnixNano: nanos(span.startMs),
              endTimeUnixNano: nanos(span.endMs),
              attributes: attributesOf(span.attributes),
              status: span.failed ? { code: 2 } : {},
            })),
          },
        ],
      },
    ],
  })
}

const cumulative = 2

/** The families of /metrics, as one export. */
export function encodeMetrics(
  resource: Resource,
  families: Families,
  times: { startMs: number; nowMs: number },
): string {
  const at = { startTimeUnixNano: nanos(times.startMs), timeUnixNano: nanos(times.nowMs) }
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: resourceOf(resource),
        scopeMetrics: [{ scope, metrics: families.map((family) => metricOf(family, at)) }],
      },
    ],
  })
}

function metricOf({ name, help, type, values }: Families[number], at: Record<string, string>) {
  const points = () =>
    values.map(({ value, labels }) => ({ ...at, attributes: attributesOf(labels as SpanAttributes), asDouble: value }))
  // prom-client names its types by word, whatever its declarations say.
  switch (String(type)) {
    case 'counter':
      return {
        name,
        description: help,
        sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints: points() },
      }
    case 'histogram':
      return {
        name,
        description: help,
        histogram: { aggregationTemporality: cumulative, dataPoints: histogramPoints(name, values, at) },
      }
    default:
      return { name, description: help, gauge: { dataPoints: points() } }
  }
}

type Values = Families[number]['values']
type HistogramValue = Values[number] & { metricName?: string }

function histogramPoints(name: string, values: Values, at: Record<string, string>) {
  const series = new Map<string, { labels: SpanAttributes; buckets: [number, number][]; sum: number; count: number }>()
  for (const { value, labels, metricName } of values as HistogramValue[]) {
    const { le, ...rest } = labels as SpanAttributes
    const key = JSON.stringify(rest)
    const one = series.get(key) ?? { labels: rest, buckets: [], sum: 0, count: 0 }
    series.set(key, one)
    if (metricName === `${name}_bucket`)
      one.buckets.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value])
    if (metricName === `${name}_sum`) one.sum = value
    if (metricName === `${name}_count`) one.count = value
  }
  return [...series.values()].map(({ labels, buckets, sum, count }) => {
    const sorted = buckets.sort(([a], [b]) => a - b)
    return {
      ...at,
      attributes: attributesOf(labels),
      count: String(count),
      sum,
      explicitBounds: sorted.map(([bound]) => bound).filter(Number.isFinite),
      // Prometheus counts up to each bound, OTLP between two.
      bucketCounts: sorted.map(([, total], index) => String(total - (sorted[index - 1]?.[1] ?? 0))),
    }
  })
}
