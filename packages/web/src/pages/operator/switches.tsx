import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { Age, Badge, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import type { Switch } from './types.ts'

const meanings: Record<string, string> = {
  paid: 'stops every sale; free answers go on',
  payouts: 'stops money leaving custody',
  facilitator: 'stops settling for other sellers',
  options: 'stops new positions',
}

/** A switch that is on stops what it names. Each change is signed by itself and kept in the audit log. */
export function Switches({ switches, onChanged }: { switches: Switch[]; onChanged: () => void }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const turn = async ({ name, on }: Switch) => {
    if (wallet === undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { askSigned } = await import('../../wallet/purse.ts')
      await askSigned(index, wallet, `${index.base_url}/v1/operator/switches`, {
        method: 'POST',
        body: { name, on: !on, reason: reason.trim() },
      })
      announce(`${name} is ${on ? 'off' : 'on'}`)
      onChanged()
    } catch (error) {
      setProblem(asProblem(error))
    }
    setBusy(false)
  }
  return (
    <section class="sheet" aria-labelledby="switches">
      <h2 id="switches">Kill switches</h2>
      <label class="field">
        <span>Reason, kept in the audit log</span>
        <input
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
          placeholder="custody key rotation"
        />
      </label>
      <ul class="switches">
        {switches.map((entry) => (
          <li key={entry.name}>
            <div>
              <b>{entry.name}</b> <Badge tone={entry.on ? 'bad' : 'good'}>{entry.on ? 'stopped' : 'running'}</Badge>
              <span class="source">
                {meanings[entry.name]}
                {entry.on ? ` (${entry.reason})` : null}, changed <Age at={entry.changed_at} />
              </span>
            </div>
            <button
              type="button"
              class="button small"
              disabled={busy || reason.trim().length < 3}
              onClick={() => turn(entry)}
            >
              {entry.on ? `Let ${entry.name} run` : `Stop ${entry.name}`}
            </button>
          </li>
        ))}
      </ul>
      {problem === undefined ? null : <Problem problem={problem} />}
    </section>
  )
}
