import type { AnswerOf } from '@assay/sdk'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { explorerUrl, networkName } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { timeText } from '../../ui/format.ts'
import { Await, Badge, Hex, Money, Notice, PageHead } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { purchases } from '../../wallet/purchases.ts'
import { DisputeForm } from './dispute-form.tsx'
import { stateTones } from './payment-list.ts'

type Status = AnswerOf<'payments.status'>

const nextLabels: Record<string, string> = {
  wait: 'Wait: the node is still working on it.',
  resend: 'Send the same payment again to get the answer; it is not charged twice.',
  pay_again: 'Nothing was taken. Buy again if you still want it.',
  done: 'Nothing is left to do.',
}

/** One payment, to be linked to: its state, where the money is, and what was decided about it. */
export function PaymentPage({ id }: { id: string }) {
  const index = useNode()
  const [status, again] = useAnswer(id, (signal) =>
    ask<Status>(`${index.base_url}/v1/payments/${encodeURIComponent(id)}`, { signal }),
  )
  return (
    <>
      <PageHead title="Payment">
        <p class="row">
          <Hex value={id} what="payment id" whole /> <a href={linkTo('wallet')}>All payments</a>
        </p>
      </PageHead>
      <Await of={status} what="Reading the payment" again={again}>
        {({ body, exchange }) => (
          <section class="sheet" aria-labelledby="state">
            <header>
              <h2 id="state">
                <Money micro={body.amount_micro} /> <Badge tone={stateTones[body.state] ?? 'calm'}>{body.state}</Badge>
              </h2>
              <Signed exchange={exchange} />
            </header>
            <p>{nextLabels[body.next]}</p>
            <Facts status={body} />
            <Dispute id={id} status={body} again={again} />
          </section>
        )}
      </Await>
    </>
  )
}

function Facts({ status }: { status: Status }) {
  const index = useNode()
  // Anybody may read the state of a payment; what it was for only the buyer's own browser tells.
  const note = useStore(purchases).find(({ transaction }) => transaction === status.transaction)
  return (
    <dl class="facts">
      {note === undefined ? null : (
        <>
          <dt>For</dt>
          <dd>
            <bdi>{note.what}</bdi>
          </dd>
        </>
      )}
      <dt>Network</dt>
      <dd>{networkName(index, status.network)}</dd>
      <dt>Claimed</dt>
      <dd>{timeText(status.claimed_at)}</dd>
      <dt>Settled</dt>
      <dd>{status.settled_at === null ? 'no' : timeText(status.settled_at)}</dd>
      <dt>Final</dt>
      <dd>{status.final ? 'yes' : status.provisional ? 'no: granted, and revoked if the chain drops it' : 'no'}</dd>
      <dt>Transaction</dt>
      <dd>
        {status.transaction === null ? (
          'none'
        ) : (
          <Hex
            value={status.transaction}
            what="transaction"
            whole
            href={explorerUrl(index, status.network, 'tx', status.transaction)}
          />
        )}
      </dd>
      {status.other_transfers.map(({ transaction, amount_micro, posted_as }) => [
        <dt key={transaction}>Also arrived</dt>,
        <dd key={`${transaction} amount`}>
          <Money micro={amount_micro} />, {posted_as ?? 'not posted yet'} <Hex value={transaction} what="transaction" />
        </dd>,
      ])}
    </dl>
  )
}

function Dispute({ id, status: { dispute, state }, again }: { id: string; status: Status; again: () => void }) {
  if (dispute === null) {
    if (state === 'served') return <DisputeForm id={id} onOpened={again} />
    return <p class="soft">{state === 'refunded' ? 'It was refunded.' : 'There is no dispute about it.'}</p>
  }
  return (
    <Notice tone={dispute.state === 'rejected' ? 'bad' : dispute.state === 'accepted' ? 'good' : 'plain'}>
      <strong>
        Dispute {dispute.state}
        {dispute.refund_micro === null ? null : (
          <>
            , <Money micro={dispute.refund_micro} /> refunded
          </>
        )}
      </strong>
      <p>{dispute.decision ?? 'The operator has not decided yet.'}</p>
    </Notice>
  )
}
