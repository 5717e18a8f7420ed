const [width, height, left, bottom] = [720, 150, 8, 22]

/** Size over time as a small inline drawing. */
export function growthChart(growth: readonly (readonly [number, number])[], nowMs: number): string {
  const [first] = growth
  if (!first || growth.length < 2) return ''
  const [from, until] = [first[0], Math.max(nowMs, first[0] + 1)]
  const sizes = growth.map(([, size]) => size)
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)]
  const x = (ms: number) => left + ((ms - from) / (until - from)) * (width - 2 * left)
  const y = (size: number) => height - bottom - ((size - low) / Math.max(1, high - low)) * (height - bottom - 14)
  // Steps: the log has a size until it grows.
  const points = growth.flatMap(([ms, size], index) => {
    const before = growth[index - 1]
    return before ? [at(x(ms), y(before[1])), at(x(ms), y(size))] : [at(x(ms), y(size))]
  })
  const line = [...points, at(x(until), y(high))].join(' ')
  const base = height - bottom
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Size of the log over time, from ${low} to ${high}"><polygon class="area" points="${at(left, base)} ${line} ${at(x(until), base)}"/><line class="axis" x1="${left}" y1="${base}" x2="${width - left}" y2="${base}"/><polyline class="curve" points="${line}"/><text x="${left}" y="${height - 6}">${timeText(from)}</text><text x="${width - left}" y="${height - 6}" text-anchor="end">${timeText(until)}</text><text x="${width - left}" y="11" text-anchor="end">${high.toLocaleString('en-US')}</text></svg>`
}

const at = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`
const timeText = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
