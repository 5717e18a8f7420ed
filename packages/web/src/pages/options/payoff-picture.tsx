import { centsOfMicro } from '../../ui/format.ts'
import { breakEven, indexRange, profitMicro, type Terms } from './payoff.ts'

const [width, height, edge] = [640, 260, 14]

/** Profit and loss over the index, with strike, break-even and the index now. */
export function PayoffPicture({ terms, now }: { terms: Terms; now: number | undefined }) {
  const [low, high] = indexRange(terms, now)
  const even = breakEven(terms)
  const marks = [
    low,
    terms.strike,
    even,
    terms.kind === 'call' ? terms.strike + terms.paysUpTo : terms.strike - terms.paysUpTo,
    high,
  ]
  const points = [...new Set(marks)].filter((at) => at >= low && at <= high).sort((a, b) => a - b)
  const profits = points.map((at) => Number(profitMicro(terms, at)) / 1e6)
  const [bottom, top] = [Math.min(...profits), Math.max(...profits, 1)]
  const x = (at: number) => edge + ((at - low) / (high - low)) * (width - 2 * edge)
  const y = (usd: number) => edge + ((top - usd) / (top - bottom)) * (height - 2 * edge - 24)
  const line = points.map((at, position) => `${x(at)},${y(profits[position] ?? 0)}`).join(' ')
  const description = `At worst ${centsOfMicro(terms.premiumMicro)} is lost. Break-even at an index of ${even.toFixed(2)}${now === undefined ? '' : `; it is now at ${now.toFixed(2)}`}.`
  return (
    <figure class="stack tight">
      <svg class="payoff" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={description}>
        <line class="zero" x1={edge} x2={width - edge} y1={y(0)} y2={y(0)} />
        <Mark x={x(terms.strike)} label={`strike ${terms.strike}`} />
        <Mark x={x(even)} label={`even ${even.toFixed(1)}`} />
        {now === undefined ? null : <Mark x={x(now)} label={`now ${now.toFixed(1)}`} strong />}
        <polyline points={line} />
        {now === undefined ? null : <circle cx={x(now)} cy={y(Number(profitMicro(terms, now)) / 1e6)} r="5" />}
        <text x={edge} y={y(0) - 6}>
          $0
        </text>
        {/* On the side where the loss is: below the strike of a call, above that of a put. */}
        <text
          x={terms.kind === 'call' ? edge : width - edge}
          y={y(bottom) - 6}
          text-anchor={terms.kind === 'call' ? 'start' : 'end'}
          class="loss"
        >
          {centsOfMicro(-terms.premiumMicro)}
        </text>
      </svg>
      <figcaption class="small soft">{description}</figcaption>
    </figure>
  )
}

function Mark({ x, label, strong = false }: { x: number; label: string; strong?: boolean }) {
  return (
    <g class={strong ? 'mark-line strong' : 'mark-line'}>
      <line x1={x} x2={x} y1={edge} y2={height - 22} />
      <text x={Math.min(width - 40, Math.max(40, x))} y={strong ? height - 6 : edge + 2} text-anchor="middle">
        {label}
      </text>
    </g>
  )
}
