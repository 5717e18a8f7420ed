import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { Age, Badge, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import type { Overview, Pause } from './types.ts'

const meanings: Record<string, string> = {
  sales: 'no paid answer is sold; free answers go on',
  payouts: 'no money leaves custody',
  settlement: 'nothing is settled for other sellers',
  options: 'no new positions',
  mandates: 'nothing is drawn under a mandate',
  renewals: 'no subscription renews by itself',
}

/** What can be paused. Each change is signed by itself and kept in the audit log. */
export function Pauses({
  pauses,
  role,
  onChanged,
}: {
  pauses: Pause[]
  role: Overview['role']
  onChanged: () => void
}) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const turn = async ({ name, paused }: Pause) => {
    if (wallet === undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      await askSigned(index, wallet, `${index.base_url}/v1/operator/pauses`, {
        method: 'POST',
        body: { name, paused: !paused, reason: reason.trim() },
      })
      announce(`${name} ${paused ? 'resumed' : 'paused'}`)
      onChanged()
    } catch (error) {
      setProblem(asProblem(error))
    }
    setBusy(false)
  }
  return (
    <section class="sheet" aria-labelledby="pauses">
      <h2 id="pauses">Pauses</h2>
      <label class="field">
        <span>Reason, kept in the audit log</span>
        <input
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
          placeholder="custody key rotation"
        />
      </label>
      <ul class="pauses">
        {pauses.map((entry) => (
          <li key={entry.name}>
            <div>
              <b>{entry.name}</b>{' '}
              <Badge tone={entry.paused ? 'bad' : 'good'}>{entry.paused ? 'paused' : 'running'}</Badge>
              <span class="source">
                {meanings[entry.name] ?? entry.name}
                {entry.paused ? ` (${entry.reason})` : null}, changed <Age at={entry.changed_at} />
              </span>
            </div>
            <button
              type="button"
              class="button small"
              disabled={busy || role === 'read' || reason.trim().length < 3}
              onClick={() => turn(entry)}
            >
              {entry.paused ? `Resume ${entry.name}` : `Pause ${entry.name}`}
            </button>
          </li>
        ))}
      </ul>
      {role === 'read' ? <p class="source">This wallet may read; pausing needs the role operate.</p> : null}
      {problem === undefined ? null : <Problem problem={problem} />}
    </section>
  )
}
