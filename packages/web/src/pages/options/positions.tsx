import type { OptionHoldings } from '@assay/sdk'
import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useEvery } from '../../node/use-every.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Age, Await, Badge, Money, Scroll, Synthetic, type Tone } from '../../ui/parts.tsx'
import { purchases } from '../../wallet/purchases.ts'
import { type Wallet, wallet as walletStore } from '../../wallet/wallet-store.ts'
import { ClosePosition } from './close-position.tsx'
import { LimitSell } from './limit-sell.tsx'
import { OwnOffers } from './own-offers.tsx'

const tones: Record<string, Tone> = { open: 'calm', held: 'calm', settled: 'good', voided: 'warn', revoked: 'bad' }

/** What the connected wallet holds. */
export function Positions() {
  const index = useNode()
  const wallet = useStore(walletStore)
  const bought = useStore(purchases).length
  const [answer, again] = useAnswer(wallet?.address ?? null, (signal) =>
    ask<OptionHoldings>(`${index.api_url}/v1/options/positions/${wallet?.address}`, { signal }),
  )
  useEvery(10_000, again)
  // Something was bought, maybe one of these.
  useEffect(again, [bought, again])
  return (
    <section class="sheet" aria-labelledby="positions">
      <header>
        <h2 id="positions">Your positions</h2>
        <Synthetic of={answer.state === 'done' && answer.value.body.positions.some(({ synthetic }) => synthetic)} />
      </header>
      <Await of={answer} what="Reading the positions" idle={<p class="soft">Connect a wallet to see what it holds.</p>}>
        {({ body }) => (
          <>
            <Holdings holdings={body} wallet={wallet} again={again} />
            {wallet === undefined ? null : <OwnOffers holdings={body} wallet={wallet} again={again} />}
          </>
        )}
      </Await>
    </section>
  )
}

type HoldingsProps = { holdings: OptionHoldings; wallet: Wallet | undefined; again: () => void }

function Holdings({ holdings: { positions, payable_micro }, wallet, again }: HoldingsProps) {
  if (positions.length === 0)
    return (
      <p class="soft">
        {payable_micro === '0'
          ? 'None yet. Choose a premium in the chain to buy or write a contract.'
          : `None open. ${centsOfMicro(payable_micro)} are on their way to you.`}
      </p>
    )
  return (
    <Scroll label="Positions">
      <table class="positions">
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col">State</th>
            {['Paid', 'Pays at most', 'Paid out', 'Profit now'].map((title) => (
              <th key={title} scope="col" class="right">
                {title}
              </th>
            ))}
            <th scope="col" class="right" title="If it expired at the index of now">
              At expiry
            </th>
            <th scope="col">Ends</th>
          </tr>
        </thead>
        <tbody>
          {positions.map((position) => (
            <Fragment key={position.position_id}>
              <PositionRow position={position} />
              {position.state === 'open' && wallet !== undefined ? (
                <tr>
                  <td colSpan={8}>
                    <div class="row">
                      <ClosePosition position={position} wallet={wallet} again={again} />
                      <LimitSell position={position} wallet={wallet} again={again} />
                    </div>
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function PositionRow({ position }: { position: OptionHoldings['positions'][number] }) {
  const amount = (micro: string | null) => (micro === null ? '–' : <Money micro={micro} />)
  return (
    <tr class={position.state === 'open' ? 'open' : ''}>
      <th scope="row" class="mono">
        {position.quantity} × {position.symbol}
      </th>
      <td>
        <Badge tone={tones[position.state] ?? 'plain'}>{position.state}</Badge>
      </td>
      <td class="right">{amount(position.premium_micro)}</td>
      <td class="right">{amount(position.most_micro)}</td>
      <td class="right">{amount(position.payout_micro)}</td>
      <td class="right">{amount(position.profit_micro)}</td>
      <td class="right">{amount(position.expiry_profit_micro)}</td>
      <td>
        <Age at={position.expires_at} />
      </td>
    </tr>
  )
}
