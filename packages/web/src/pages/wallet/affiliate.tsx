import type { AffiliateStatus } from '@assay/sdk'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Hex, Money } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

export function Affiliate({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const [status, again] = useAnswer(offers(index, '/affiliate/{wallet}') ? wallet.address : null, (signal) =>
    ask<AffiliateStatus>(`${index.base_url}/affiliate/${wallet.address}`, { signal }),
  )
  if (status.state === 'idle') return null
  return (
    <section class="sheet" aria-labelledby="affiliate">
      <h2 id="affiliate">Affiliate</h2>
      <Await of={status} what="Reading what was earned" again={again}>
        {({ body }) => (
          <>
            <p class="price">
              <Money micro={body.earned_micro} />
              <small>earned, {Math.round(body.rate * 100)} % of each sale you bring</small>
            </p>
            <dl class="facts">
              <dt>Payable</dt>
              <dd>
                <Money micro={body.payable_micro} />
              </dd>
              <dt>Pending</dt>
              <dd>
                <Money micro={body.pending_micro} />
              </dd>
              <dt>Paid</dt>
              <dd>
                <Money micro={body.paid_micro} />
              </dd>
              <dt>Link</dt>
              <dd>
                <Hex value={body.link} what="affiliate link" whole />
              </dd>
            </dl>
          </>
        )}
      </Await>
    </section>
  )
}
