/** A line without axes: its shape, and for screen readers its first and last value. */
export function Sparkline({ values, what }: { values: readonly (number | null)[]; what: string }) {
  const known = values.flatMap((value, index) => (value === null ? [] : [{ value, index }]))
  const first = known[0]
  const last = known.at(-1)
  if (first === undefined || last === undefined || known.length < 2) return <span class="soft">–</span>
  const { path, end } = sparkPath(values, 100, 24)
  return (
    <svg
      class="spark"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${what}: from ${first.value} to ${last.value}`}
    >
      <path d={path} />
      <circle cx={end.x} cy={end.y} r="1.6" />
    </svg>
  )
}

/** Gaps stay gaps: a missing day is not drawn through. */
export function sparkPath(
  values: readonly (number | null)[],
  width: number,
  height: number,
): { path: string; end: { x: number; y: number } } {
  const known = values.filter((value): value is number => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  const x = (index: number) => round((index / Math.max(1, values.length - 1)) * width)
  const y = (value: number) => round(span === 0 ? height / 2 : height - 1 - ((value - low) / span) * (height - 2))
  let path = ''
  let drawing = false
  let end = { x: 0, y: height / 2 }
  values.forEach((value, index) => {
    if (value === null) {
      drawing = false
      return
    }
    end = { x: x(index), y: y(value) }
    path += `${drawing ? 'L' : 'M'}${end.x} ${end.y}`
    drawing = true
  })
  return { path, end }
}

const round = (value: number) => Math.round(value * 10) / 10
