import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { capital } from '../../ui/format.ts'
import { Age, Badge, Heads, Problem, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { Actor } from './actor.tsx'
import type { Overview, Pause } from './types.ts'

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
  const { busy, problem, attempt } = useAttempt()
  const turn = async ({ name, paused }: Pause) => {
    if (wallet === undefined) return
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      await askSigned(index, wallet, `${index.base_url}/v1/operator/pauses`, {
        method: 'POST',
        body: { name, paused: !paused, reason: reason.trim() },
      })
      announce(`${capital(name)} ${paused ? 'resumed' : 'paused'}`)
      onChanged()
    })
  }
  return (
    <section class="sheet" aria-labelledby="pauses">
      <h2 id="pauses">Pauses</h2>
      {role === 'read' ? (
        <p class="soft">This wallet may read; pausing needs the role operate.</p>
      ) : (
        <label class="field">
          <span>Reason, kept in the audit log</span>
          <input
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
            placeholder="custody key rotation"
          />
          <small>Written before anything is paused or resumed.</small>
        </label>
      )}
      <Scroll label="What can be paused">
        <table class="pauses">
          <Heads titles={['What', 'A pause stops', 'And leaves running', 'Change']} hidden={['Change']} />
          <tbody>
            {pauses.map((entry) => (
              <PauseRow
                key={entry.name}
                entry={entry}
                disabled={busy || role === 'read' || reason.trim().length < 3}
                onTurn={() => turn(entry)}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      <Problem problem={problem} />
    </section>
  )
}

function PauseRow({ entry, disabled, onTurn }: { entry: Pause; disabled: boolean; onTurn: () => void }) {
  const { name, paused, stops, leaves_running, reason, changed_by, changed_at } = entry
  return (
    <tr>
      <th scope="row">
        {capital(name)} <Badge tone={paused ? 'bad' : 'good'}>{paused ? 'paused' : 'running'}</Badge>
        {paused ? (
          <span class="source">
            <Age at={changed_at} /> by <Actor name={changed_by} />: {reason}
          </span>
        ) : null}
      </th>
      <td>{stops}</td>
      <td>{leaves_running}</td>
      <td class="right">
        <button type="button" class="button small" disabled={disabled} onClick={onTurn}>
          {paused ? `Resume ${name}` : `Pause ${name}`}
        </button>
      </td>
    </tr>
  )
}
