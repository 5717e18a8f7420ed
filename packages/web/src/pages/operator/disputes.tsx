import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { count, shortHex } from '../../ui/format.ts'
import { Age, Badge, Hex, Problem } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import type { OpenDispute, Overview } from './types.ts'

type Deciding = { role: Overview['role']; onChanged: () => void }

/** What payers say is wrong. Each decision is signed by itself; the payer sees its reason. */
export function Disputes({ disputes, role, onChanged }: Deciding & { disputes: OpenDispute[] }) {
  return (
    <section class="sheet" aria-labelledby="disputes">
      <h2 id="disputes">Disputes</h2>
      {disputes.length === 0 ? (
        <p class="soft">None is open. A payer has 30 days to say that an answer is wrong; it would be decided here.</p>
      ) : null}
      <ul class="plain-list">
        {disputes.map((dispute) => (
          <li key={dispute.id}>
            <Age at={dispute.opened_at} />
            <div class="stack tight">
              <p class="row small">
                <a class="mono" href={linkTo('wallet', ['payments', dispute.payment_id])} title={dispute.payment_id}>
                  {shortHex(dispute.payment_id)}
                </a>
                <span>
                  paid by <Hex value={dispute.payer} what="payer" />
                </span>
                {dispute.evidence_bytes > 0 ? (
                  <Badge title="assay disputes show">a file of {count(dispute.evidence_bytes)} bytes</Badge>
                ) : null}
              </p>
              <blockquote>{dispute.text}</blockquote>
              <Decide dispute={dispute} role={role} onChanged={onChanged} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Decide({ dispute, role, onChanged }: Deciding & { dispute: OpenDispute }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [reason, setReason] = useState('')
  const [amount, setAmount] = useState('all')
  const { busy, problem, attempt } = useAttempt()
  const decide = async (refund: string) => {
    if (wallet === undefined) return
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const body = { id: dispute.id, refund_usd: refund, reason: reason.trim() }
      await askSigned(index, wallet, `${index.base_url}/v1/operator/disputes`, { method: 'POST', body })
      announce('The dispute is decided')
      onChanged()
    })
  }
  const ready = !busy && wallet !== undefined && role !== 'read' && reason.trim().length >= 3
  return (
    <>
      <div class="row">
        <label class="field">
          <span>Reason, shown to the payer</span>
          <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Refund in USD, or all</span>
          <input value={amount} onInput={(event) => setAmount(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          class="button"
          disabled={!ready || role !== 'withdraw'}
          onClick={() => decide(amount.trim())}
        >
          Refund
        </button>
        <button type="button" class="button" disabled={!ready} onClick={() => decide('none')}>
          Reject
        </button>
      </div>
      {role === 'withdraw' ? null : (
        <p class="source">This wallet has the role {role}; rejecting needs operate, a refund withdraw.</p>
      )}
      <Problem problem={problem} />
    </>
  )
}
