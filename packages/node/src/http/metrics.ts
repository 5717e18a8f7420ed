import type { Metrics } from '@assay/till/kernel/metrics'
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

/** The metrics of one process as data. */
export type Families = MetricObjectWithValues<MetricValue<string>>[]

export type PrometheusMetrics = Metrics & {
  text(): Promise<string>
  contentType: string
  /** The same as `text`, for exporters. */
  families(): Promise<Families>
}

type Labels = Record<string, string>
type LabelledMetric<Child> = { labels(...values: string[]): Child }
type Family<Child> = { names: readonly string[]; metric: LabelledMetric<Child>; children: Map<string, Child> }
type Known<Child> = {
  known: Map<string, Family<Child>>
  make(name: string, labelNames: string[]): LabelledMetric<Child>
}

const seriesMax = 2_000
const secondsBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 15, 30]
const noLabels: Labels = {}

/** The metrics port on prom-client. A family takes its label names from its first use; series are bounded, so a caller cannot grow them. */
export function createMetrics(common: Labels = noLabels): PrometheusMetrics {
  const registry = new Registry()
  registry.setDefaultLabels(common)
  const described = (name: string, suffix: string, labelNames: string[]) => ({
    name: `assay_${name}${suffix}`,
    help: name.replaceAll('_', ' '),
    labelNames,
    registers: [registry],
  })
  const counters: Known<{ inc(by: number): void }> = {
    known: new Map(),
    make: (name, labelNames) => new Counter(described(name, '_total', labelNames)),
  }
  const gauges: Known<{ set(value: number): void }> = {
    known: new Map(),
    make: (name, labelNames) => new Gauge(described(name, '', labelNames)),
  }
  const histograms: Known<{ observe(value: number): void }> = {
    known: new Map(),
    make: (name, labelNames) => new Histogram({ ...described(name, '_seconds', labelNames), buckets: secondsBuckets }),
  }
  return {
    count: (name, labels = noLabels, by = 1) => childOf(counters, name, labels).inc(by),
    gauge: (name, value, labels = noLabels) => childOf(gauges, name, labels).set(value),
    observeMs: (name, ms, labels = noLabels) => childOf(histograms, name, labels).observe(ms / 1000),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    families: () => registry.getMetricsAsJSON(),
  }
}

/** As `text`, of several processes; each has its own label (`common`), so no two series are the same. */
export const mergedText = (processes: readonly Families[]): Promise<string> =>
  AggregatorRegistry.aggregate([...processes]).metrics()

function childOf<Child>(families: Known<Child>, name: string, labels: Labels): Child {
  const family = families.known.get(name) ?? addFamily(families, name, labels)
  let key = ''
  for (const label of family.names) key += `${labels[label] ?? ''}\n`
  return family.children.get(key) ?? addChild(family, key, labels)
}

function addFamily<Child>(families: Known<Child>, name: string, labels: Labels): Family<Child> {
  const names = Object.keys(labels)
  const family = { names, metric: families.make(name, names), children: new Map<string, Child>() }
  families.known.set(name, family)
  return family
}

function addChild<Child>(family: Family<Child>, key: string, labels: Labels): Child {
  const full = family.children.size >= seriesMax
  const child = family.metric.labels(...family.names.map((label) => (full ? 'other' : (labels[label] ?? ''))))
  if (!full) family.children.set(key, child)
  return child
}
