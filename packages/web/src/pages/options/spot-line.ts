type Frame = { width: number; height: number; edge: number }
export type SpotLine = { points: string; strikes: { strike: number; y: number; labelled: boolean }[] }

/** Two labels closer than this are read as neither. */
const labelHeight = 18

/** The index as a line in a frame that holds it and the chosen strike; other strikes are marked where they are in it. */
export function spotLine(
  history: readonly { index: string }[],
  strikes: readonly number[],
  chosen: number,
  { width, height, edge }: Frame,
): SpotLine | undefined {
  const values = history.map(({ index }) => Number(index))
  if (values.length < 2) return undefined
  const [low, high] = [Math.min(...values, chosen) - 1, Math.max(...values, chosen) + 1]
  const x = (at: number) => edge + (at / (values.length - 1)) * (width - 2 * edge)
  const y = (value: number) => edge + ((high - value) / (high - low)) * (height - 2 * edge)
  const labels: number[] = []
  // The chosen strike has its label in any case; others have one where it is free of those before.
  const placed = [chosen, ...new Set(strikes.filter((strike) => strike !== chosen))]
    .filter((strike) => strike >= low && strike <= high)
    .map((strike) => {
      const labelled = labels.every((other) => Math.abs(other - y(strike)) >= labelHeight)
      if (labelled) labels.push(y(strike))
      return { strike, y: y(strike), labelled }
    })
  return {
    points: values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
    strikes: placed,
  }
}
