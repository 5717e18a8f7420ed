import type { AnswerOf } from '@assay/sdk'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { networkName, offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Money } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type CreditAnswer = AnswerOf<'credit.balance'>

/** USDC on each chain, asked of the node: the page may talk with nobody else. */
function OnChain({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const [read, again] = useAnswer(offers(index, '/v1/wallet/{wallet}/balances') ? wallet.address : null, (signal) =>
    ask<AnswerOf<'wallet.balances'>>(`${index.base_url}/v1/wallet/${wallet.address}/balances`, { signal }),
  )
  return (
    <Await of={read} what="Reading the chains" again={again}>
      {({ body }) => (
        <dl class="facts">
          {body.data.map(({ network, balance_micro }) => [
            <dt key={network}>USDC on {networkName(index, network)}</dt>,
            <dd key={`${network} balance`}>
              {balance_micro === null ? 'could not be read' : <Money micro={balance_micro} />}
            </dd>,
          ])}
        </dl>
      )}
    </Await>
  )
}

/** Paid in once, drawn on by signed requests: many small calls without a settlement each. */
export function Credit({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const [credit, again] = useAnswer(offers(index, '/v1/credit/{wallet}') ? wallet.address : null, (signal) =>
    ask<CreditAnswer>(`${index.base_url}/v1/credit/${wallet.address}`, { signal }),
  )
  if (credit.state === 'idle') return null
  return (
    <section class="sheet" aria-labelledby="credit">
      <h2 id="credit">Balances</h2>
      <OnChain wallet={wallet} />
      <h3>Credit</h3>
      <Await of={credit} what="Reading the credit" again={again}>
        {({ body }) => (
          <dl class="facts">
            {body.credit.map(({ network, credit_micro, held_micro, bonded_micro }) => [
              <dt key={network}>{networkName(index, network)}</dt>,
              <dd key={`${network} credit`}>
                <Money micro={credit_micro} />
                {held_micro === '0' ? null : (
                  <>
                    , <Money micro={held_micro} /> held
                  </>
                )}
                {bonded_micro === '0' ? null : (
                  <>
                    , <Money micro={bonded_micro} /> bonded
                  </>
                )}
              </dd>,
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
