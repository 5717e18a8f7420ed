export function percentiles(values: readonly number[]): { p50: number; p99: number } {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  const round = (value: number) => Math.round(value * 100) / 100
  return { p50: round(at(0.5)), p99: round(at(0.99)) }
}
