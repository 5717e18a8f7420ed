import type { Mandate } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import type { NodeIndex } from '../../node/node-index.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Fields = { delegate: string; route: string; perCall: string; perDay: string; total: string; days: string }

const first: Fields = { delegate: '', route: '*', perCall: '0.05', perDay: '1', total: '5', days: '30' }

/** Limits are written here and signed by the wallet; the node only keeps what was signed. */
export function MandateForm({ wallet, onCreated }: { wallet: Wallet; onCreated: (mandate: Mandate) => void }) {
  const index = useNode()
  const [fields, setFields] = useState(first)
  const { busy, problem, attempt } = useAttempt()
  const change = (name: keyof Fields) => (event: { currentTarget: { value: string } }) =>
    setFields({ ...fields, [name]: event.currentTarget.value })
  const give = async () => {
    await attempt(async () => {
      const { signMandate } = await import('../../wallet/sign-and-pay.ts')
      onCreated(
        await signMandate(index, wallet, {
          delegate: fields.delegate.trim(),
          routes: [fields.route],
          maxPerCallUsd: fields.perCall.trim(),
          maxPerDayUsd: fields.perDay.trim(),
          maxTotalUsd: fields.total.trim(),
          days: Number(fields.days),
        }),
      )
      setFields(first)
      announce('The mandate is signed')
    })
  }
  return (
    <details>
      <summary>Let an agent spend your credit</summary>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          give()
        }}
      >
        <label class="field">
          <span>Wallet of the agent</span>
          <input
            required
            class="mono"
            pattern="\s*0x[0-9a-fA-F]{40}\s*"
            title="0x and 40 hex digits"
            placeholder="0x…"
            value={fields.delegate}
            onInput={change('delegate')}
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <RouteChoice index={index} value={fields.route} onChange={change('route')} />
        <div class="columns thirds">
          <Amount label="Most a call" value={fields.perCall} onInput={change('perCall')} />
          <Amount label="Most a day" value={fields.perDay} onInput={change('perDay')} />
          <Amount label="Most in all" value={fields.total} onInput={change('total')} />
        </div>
        <label class="field">
          <span>For so many days</span>
          <input type="number" required min="1" max="366" value={fields.days} onInput={change('days')} />
        </label>
        <div class="row">
          <button type="submit" class="button main" disabled={busy}>
            {busy ? 'Waiting for the signature…' : 'Sign the mandate'}
          </button>
        </div>
        <p class="small soft">Signed here, good at this node only, revoked at any time. It moves no money by itself.</p>
        <Problem problem={problem} />
      </form>
    </details>
  )
}

type Change = (event: { currentTarget: { value: string } }) => void

function Amount({ label, value, onInput }: { label: string; value: string; onInput: Change }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        required
        inputMode="decimal"
        pattern="\d{1,6}(\.\d{1,6})?"
        title="US dollars with a point, such as 0.05"
        value={value}
        onInput={onInput}
      />
    </label>
  )
}

function RouteChoice({ index, value, onChange }: { index: NodeIndex; value: string; onChange: Change }) {
  return (
    <label class="field">
      <span>For</span>
      <select value={value} onChange={onChange}>
        <option value="*">Anything this node sells</option>
        {index.sold
          .filter(({ id }) => !id.startsWith('credit.'))
          .map(({ id, summary }) => (
            <option key={id} value={id}>
              {summary}
            </option>
          ))}
      </select>
    </label>
  )
}
