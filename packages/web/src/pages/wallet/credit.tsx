import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { networkName, offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { usdOfMicro } from '../../ui/format.ts'
import { Await } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type CreditAnswer = { credit: { network: string; credit_micro: string }[] }

/** Paid in once, drawn on by signed requests: many small calls without a settlement each. */
export function Credit({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const [credit, again] = useAnswer(offers(index, '/v1/credit/{wallet}') ? wallet.address : null, (signal) =>
    ask<CreditAnswer>(`${index.base_url}/v1/credit/${wallet.address}`, { signal }),
  )
  if (credit.state === 'idle') return null
  return (
    <section class="sheet" aria-labelledby="credit">
      <h2 id="credit">Credit</h2>
      <Await of={credit} what="Reading the credit" again={again}>
        {({ body }) => (
          <dl class="facts">
            {body.credit.map(({ network, credit_micro }) => [
              <dt key={network}>{networkName(index, network)}</dt>,
              <dd key={`${network} credit`}>{usdOfMicro(credit_micro)}</dd>,
            ])}
          </dl>
        )}
      </Await>
      <p class="small soft">Programs that sign their requests draw on it instead of paying each call on chain.</p>
      <div class="row">
        {['5', '20'].map((amount) => (
          <BuyButton
            key={amount}
            small
            quiet
            order={{ what: `Top up credit by $${amount}`, url: `${index.base_url}/v1/credit/topup?usd=${amount}` }}
            label={`Top up $${amount}`}
            onBought={again}
          />
        ))}
      </div>
    </section>
  )
}
