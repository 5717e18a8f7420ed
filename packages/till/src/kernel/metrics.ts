/** Counters and gauges as a port: the front door exposes them at /metrics. */
export type Metrics = {
  count(name: string, labels?: Record<string, string>, by?: number): void
  gauge(name: string, value: number, labels?: Record<string, string>): void
  observeMs(name: string, ms: number, labels?: Record<string, string>): void
}

export const silentMetrics: Metrics = { count: () => {}, gauge: () => {}, observeMs: () => {} }
