import type { AnswerOf, MatrixIndexEntry } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { sentence } from '../../ui/format.ts'
import { Notice, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { type Alert, fieldsOf, ruleOf, targetOf } from './alert-rule.ts'
import type { Column } from './types.ts'

type Props = { symbol: string; feed: MatrixIndexEntry & { columns: readonly Column[] } }

/** A figure of this symbol to be notified about; the wallet signs, nothing is paid. */
export function AlertForm({ symbol, feed }: Props) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const fields = fieldsOf(feed.columns)
  const [alert, setAlert] = useState<Alert>({ field: fields[0]?.name ?? 'rank', operator: '>=', figure: '' })
  const [target, setTarget] = useState('')
  const [saved, setSaved] = useState('')
  const { problem, attempt } = useAttempt()
  if (!offers(index, '/v1/notifications/watches')) return null
  const rule = ruleOf(feed.id, symbol, alert)
  const endpoint = targetOf(target)
  const save = async () => {
    if (wallet === undefined || rule === undefined || endpoint === undefined) return
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const post = <T,>(path: string, body: unknown) =>
        askSigned<T>(index, wallet, `${index.base_url}/v1/notifications/${path}`, { method: 'POST', body })
      const added = await post<AnswerOf<'notifications.endpoints.add'>>('endpoints', endpoint)
      await post('watches', { endpoint: added.endpoint, topic: 'matrix.alert', subject: rule })
      const { state } = added.endpoints.find(({ id }) => id === added.endpoint) ?? { state: 'pending' }
      setSaved(`${rule} to ${target}${state === 'active' ? '' : ': sent once the endpoint has answered its challenge'}`)
    })
  }
  return (
    <details>
      <summary>Set an alert</summary>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <div class="row alert-rule">
          <select
            aria-label="Figure"
            value={alert.field}
            onChange={(event) => setAlert({ ...alert, field: event.currentTarget.value })}
          >
            {fields.map(({ name }) => (
              <option key={name} value={name}>
                {sentence(name)}
              </option>
            ))}
          </select>
          <select
            aria-label="Condition"
            value={alert.operator}
            onChange={(event) => setAlert({ ...alert, operator: event.currentTarget.value })}
          >
            <option value=">=">at least</option>
            <option value="<=">at most</option>
          </select>
          <input
            aria-label="Value"
            inputMode="decimal"
            size={8}
            value={alert.figure}
            onInput={(event) => setAlert({ ...alert, figure: event.currentTarget.value.trim() })}
          />
        </div>
        <label class="field">
          <span>Webhook (https) or e-mail address</span>
          <input value={target} onInput={(event) => setTarget(event.currentTarget.value.trim())} />
        </label>
        <div class="row">
          <button
            type="submit"
            class="button small"
            disabled={wallet === undefined || rule === undefined || endpoint === undefined}
          >
            {wallet === undefined ? 'Connect a wallet first' : 'Set alert'}
          </button>
        </div>
        {saved === '' ? null : <Notice tone="good">{saved}</Notice>}
        <Problem problem={problem} />
      </form>
    </details>
  )
}
