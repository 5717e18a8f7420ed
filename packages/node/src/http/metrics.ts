import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Metrics } from '../kernel/metrics.ts'

export type PrometheusMetrics = Metrics & { text(): Promise<string>; contentType: string }

type Labels = Record<string, string>
type Family<Child> = { names: readonly string[]; children: Map<string, Child>; child(labels: Labels): Child }

const seriesMax = 2_000
const secondsBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 15, 30]

/** The metrics port on prom-client. A family takes its label names from its first use; series are bounded, so a caller cannot grow them. */
export function createMetrics(): PrometheusMetrics {
  const registry = new Registry()
  const counters = new Map<string, Family<{ inc(by: number): void }>>()
  const gauges = new Map<string, Family<{ set(value: number): void }>>()
  const histograms = new Map<string, Family<{ observe(value: number): void }>>()
  const registers = [registry]
  return {
    count: (name, labels = {}, by = 1) => {
      const make = (full: string, labelNames: string[]) =>
        new Counter({ name: full, help: helpOf(name), labelNames, registers })
      familyOf(counters, name, labels, '_total', make).child(labels).inc(by)
    },
    gauge: (name, value, labels = {}) => {
      const make = (full: string, labelNames: string[]) =>
        new Gauge({ name: full, help: helpOf(name), labelNames, registers })
      familyOf(gauges, name, labels, '', make).child(labels).set(value)
    },
    observeMs: (name, ms, labels = {}) => {
      const make = (full: string, labelNames: string[]) =>
        new Histogram({ name: full, help: helpOf(name), labelNames, buckets: secondsBuckets, registers })
      familyOf(histograms, name, labels, '_seconds', make)
        .child(labels)
        .observe(ms / 1000)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

const helpOf = (name: string) => name.replaceAll('_', ' ')

function familyOf<Child>(
  families: Map<string, Family<Child>>,
  name: string,
  labels: Labels,
  suffix: string,
  make: (fullName: string, labelNames: string[]) => { labels(...values: string[]): Child },
): Family<Child> {
  const known = families.get(name)
  if (known) return known
  const names = Object.keys(labels)
  const metric = make(`assay_${name}${suffix}`, names)
  const family: Family<Child> = {
    names,
    children: new Map(),
    child: (given) => {
      let key = ''
      for (const label of names) key += `${given[label] ?? ''}\n`
      const child = family.children.get(key)
      if (child) return child
      const full = family.children.size >= seriesMax
      const fresh = metric.labels(...names.map((label) => (full ? 'other' : (given[label] ?? ''))))
      if (!full) family.children.set(key, fresh)
      return fresh
    },
  }
  families.set(name, family)
  return family
}
