import { timeText } from '../../ui/format.ts'
import { spotLine } from './spot-line.ts'

const frame = { width: 640, height: 180, edge: 14 }

type Props = {
  history: readonly { at: string; index: string }[]
  strikes: readonly number[]
  chosen: number
  name: string
}

/** The index over time, with the strikes that are listed for this expiry. */
export function SpotPicture({ history, strikes, chosen, name }: Props) {
  const line = spotLine(history, strikes, chosen, frame)
  const first = history[0]
  if (!line || !first) return null
  const description = `Index of ${name} since ${timeText(first.at)}, ${history.at(-1)?.index} now; strike ${chosen}.`
  return (
    <figure class="stack tight">
      <svg class="payoff" viewBox={`0 0 ${frame.width} ${frame.height}`} role="img" aria-label={description}>
        {line.strikes.map(({ strike, y, labelled }) => (
          <g key={strike} class={strike === chosen ? 'mark-line strong' : 'mark-line'}>
            <line x1={frame.edge} x2={frame.width - frame.edge} y1={y} y2={y} />
            {labelled ? (
              <text x={frame.edge} y={y - 4}>
                {strike}
              </text>
            ) : null}
          </g>
        ))}
        <polyline points={line.points} />
      </svg>
      <figcaption class="small soft">{description}</figcaption>
    </figure>
  )
}
