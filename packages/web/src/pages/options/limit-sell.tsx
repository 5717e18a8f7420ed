import type { OptionClosing, OptionHoldings } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { centsOfMicro, usd } from '../../ui/format.ts'
import { Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { isPremium } from './limit-form.tsx'

type Props = { position: OptionHoldings['positions'][number]; wallet: Wallet; again: () => void }

/** All contracts of a position at a limit: what finds no taker now waits in the book, and stays the holder's until then. */
export function LimitSell({ position, wallet, again }: Props) {
  const index = useNode()
  const [limit, setLimit] = useState('')
  const { busy, problem, attempt } = useAttempt()
  const fits = isPremium(limit)
  const sell = async () => {
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const body = { position_id: position.position_id, limit_usd: limit, rest: true }
      const url = `${index.api_url}/v1/options/close`
      const done = await askSigned<OptionClosing>(index, wallet, url, { method: 'POST', body })
      const sold = done.quantity === 0 ? '' : `${done.quantity} sold for ${centsOfMicro(done.paid_micro)}; `
      announce(`${sold}${done.waiting} wait in the book at ${usd(limit)}`)
      setLimit('')
      again()
    })
  }
  return (
    <details>
      <summary class="small">Sell at your limit</summary>
      <div class="row">
        <input
          aria-label={`Limit for ${position.symbol}, USD a contract`}
          inputMode="decimal"
          size={6}
          value={limit}
          onInput={(event) => setLimit(event.currentTarget.value.trim())}
        />
        <button type="button" class="button small" disabled={busy || !fits} onClick={sell}>
          Sell {position.quantity}
          {fits ? ` at ${usd(limit)}` : ''}
        </button>
      </div>
      <Problem problem={problem} />
    </details>
  )
}
