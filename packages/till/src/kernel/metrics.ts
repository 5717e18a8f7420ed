/** Values that a span may carry: names of things, never who pays, what for, or a secret. */
export type SpanAttributes = Record<string, string | number | boolean>

/** Counters and gauges as a port: the HTTP app exposes them at /metrics. */
export type Metrics = {
  count(name: string, labels?: Record<string, string>, by?: number): void
  gauge(name: string, value: number, labels?: Record<string, string>): void
  observeMs(name: string, ms: number, labels?: Record<string, string>): void
  /** Present only while traces are exported. The span ends with the work; a rejection marks it as failed. */
  span?<T>(name: string, attributes: SpanAttributes, work: (set: SetAttributes) => Promise<T>): Promise<T>
}

export type SetAttributes = (attributes: SpanAttributes) => void

export const silentMetrics: Metrics = { count: () => {}, gauge: () => {}, observeMs: () => {} }

const setNothing: SetAttributes = () => {}

/** Does the work within a span, or just does it where nothing is traced. */
export function traced<T>(
  metrics: Metrics,
  name: string,
  attributes: SpanAttributes,
  work: (set: SetAttributes) => Promise<T>,
): Promise<T> {
  return metrics.span === undefined ? work(setNothing) : metrics.span(name, attributes, work)
}
