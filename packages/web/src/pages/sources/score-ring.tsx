const radius = 19
const around = 2 * Math.PI * radius

/** A CiteScore, 0 to 100, as an arc around its figure. */
export function ScoreRing({ score, large = false }: { score: number | null; large?: boolean }) {
  return (
    <svg
      class={large ? 'ring large' : 'ring'}
      viewBox="0 0 48 48"
      role="img"
      aria-label={score === null ? 'no CiteScore yet' : `CiteScore ${score} of 100`}
    >
      <circle cx="24" cy="24" r={radius} class="ring-track" />
      {score === null ? null : (
        <circle
          cx="24"
          cy="24"
          r={radius}
          class="ring-value"
          stroke-dasharray={`${(around * score) / 100} ${around}`}
          transform="rotate(-90 24 24)"
        />
      )}
      <text x="24" y="29" text-anchor="middle">
        {score ?? '–'}
      </text>
    </svg>
  )
}
