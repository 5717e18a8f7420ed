/** The value below which a share of all values is; 0 without values. Sorted once for all shares. */
export function percentiles(values: readonly number[]): (share: number) => number {
  const sorted = [...values].sort((a, b) => a - b)
  return (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function median(values: readonly number[]): number {
  const at = percentiles(values)
  return values.length % 2 === 1 ? at(0.5) : (at(0.5 - 0.5 / values.length) + at(0.5)) / 2
}

const round = (value: number) => Math.round(value * 100) / 100

export function summarize(values: readonly number[]): { p50: number; p99: number } {
  const at = percentiles(values)
  return { p50: round(at(0.5)), p99: round(at(0.99)) }
}
