export type Sample = { atMs: number; rss: number; heap: number }

/**
 * Growth over the second half of a run, in bytes an hour, by least squares through the lowest points of twenty spans: what
 * the collector has not checked yet is no growth.
 */
export function growthPerHour(samples: readonly Sample[], of: 'rss' | 'heap'): number {
  const half = samples.slice(Math.floor(samples.length / 2))
  const spans = 20
  const size = Math.max(1, Math.floor(half.length / spans))
  const points: [number, number][] = []
  for (let at = 0; at + size <= half.length; at += size) {
    const span = half.slice(at, at + size)
    const lowest = span.reduce((a, b) => (b[of] < a[of] ? b : a))
    points.push([lowest.atMs, lowest[of]])
  }
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length
  const [middleX, middleY] = [mean(0), mean(1)]
  const over = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0)
  const under = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0)
  return under === 0 ? 0 : (over / under) * 3_600_000
}
