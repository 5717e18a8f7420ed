import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'

/** "This answer is wrong": signed by the wallet that paid, decided by the operator. */
export function DisputeForm({ id, onOpened }: { id: string; onOpened: () => void }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const { busy, problem, attempt } = useAttempt()
  const [text, setText] = useState('')
  const open = () =>
    attempt(async () => {
      if (wallet === undefined) return
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const url = `${index.base_url}/v1/payments/${encodeURIComponent(id)}/dispute`
      await askSigned(index, wallet, url, { method: 'POST', body: { text: text.trim() } })
      announce('The dispute is open')
      onOpened()
    })
  return (
    <details>
      <summary>Is the answer wrong?</summary>
      <div class="stack">
        <label class="field">
          <span>What is wrong with it</span>
          <textarea maxLength={4_000} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <small>The operator reads it and decides. What is refunded goes back to the wallet that paid.</small>
        </label>
        <div class="row">
          <button
            type="button"
            class="button"
            disabled={busy || wallet === undefined || text.trim().length < 10}
            onClick={open}
          >
            Sign and open a dispute
          </button>
        </div>
        <Problem problem={problem} />
      </div>
    </details>
  )
}
