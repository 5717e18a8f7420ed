import { sentence } from '../../ui/format.ts'
import { Notice } from '../../ui/parts.tsx'
import type { Verified } from './verify-text.ts'

const marks = { passed: 'ok', failed: 'no', not_checked: 'not checked' } as const

/** Every check by name, and what came of it. */
export function VerifiedReport({ verified }: { verified: Verified }) {
  const { report, what, node, note } = verified
  return (
    <section class={`verdict ${report.ok ? 'good' : 'bad'} single`} aria-labelledby="verified">
      <div class="stack tight">
        <h2 id="verified">{report.ok ? 'It verifies' : 'It does not verify'}</h2>
        <p class="lead">
          {what} of {node}
        </p>
        {note === undefined ? null : <Notice tone="warn">{note}</Notice>}
      </div>
      <ul class="checks">
        {report.checks.map((check) => (
          <li key={`${check.name} ${check.detail}`} class={check.status}>
            <b>{sentence(check.name)}</b>
            <span class="mark-word">{marks[check.status]}</span>
            <span>{check.detail}</span>
          </li>
        ))}
      </ul>
      {report.notCovered?.length ? (
        <p class="small">Not covered by a signature: {report.notCovered.join(', ')}</p>
      ) : null}
    </section>
  )
}
