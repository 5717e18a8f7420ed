import type { OptionTrade } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { centsOfMicro, timeText } from '../../ui/format.ts'
import { Age, Await, Badge, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import type { Bought } from '../../wallet/order.ts'
import { modelCells, modelColumns, type Series } from './chain.ts'
import { LimitForm } from './limit-form.tsx'
import { PayoffPicture } from './payoff-picture.tsx'
import { type Placed, placedOf } from './placed-panel.tsx'
import { QuotedBuy } from './quoted-buy.tsx'
import { SpotPicture } from './spot-picture.tsx'

type Detail = Series & {
  index: string | null
  index_at: string | null
  volatility: number
  model_micro: string | null
  open_interest: number
  side_limit_micro_per_point: string
  bids: { premium_micro: string; quantity: number }[]
  book: { premium_micro: string; quantity: number }[]
  resales: { premium_micro: string; quantity: number }[]
  vault: { premium_micro: string; quantity: number } | null
  collateral_micro: string
  history: { at: string; index: string }[]
}

type SeriesPanelProps = {
  series: Series
  name: string
  strikes: readonly number[]
  onPlaced: (placed: Placed) => void
}

/** One series: what it pays, what it costs, and what that rests on. */
export function SeriesPanel({ series, name, strikes, onPlaced }: SeriesPanelProps) {
  const index = useNode()
  const [paid, setPaid] = useState<string>()
  const [locked, setLocked] = useState<string>()
  const symbol = encodeURIComponent(series.symbol)
  const [detail, again] = useAnswer(series.symbol, (signal) =>
    ask<Detail>(`${index.api_url}/v1/options/series/${symbol}`, { signal }),
  )
  const [trades, tradesAgain] = useAnswer(series.symbol, (signal) =>
    ask<{ data: OptionTrade[] }>(`${index.api_url}/v1/options/trades?symbol=${symbol}&limit=5`, { signal }),
  )
  const what = `${series.kind === 'call' ? 'Call' : 'Put'} on ${name} at ${series.strike}`
  const onBought = (bought: Bought) => {
    const placed = placedOf(bought, what, series.symbol)
    setPaid(placed.paidMicro)
    onPlaced(placed)
    again()
    tradesAgain()
  }
  return (
    <section class="sheet" aria-labelledby="series">
      <header>
        <h2 id="series">{what}</h2>
        <Synthetic of={series.synthetic} />
        {detail.state === 'done' ? <Signed exchange={detail.value.exchange} /> : null}
      </header>
      <Await of={detail} what="Reading the series" again={again}>
        {({ body }) => {
          // What was paid, what is locked, or what it costs now.
          const premium = paid ?? locked ?? body.premium_micro ?? body.model_micro
          const now = body.index === null ? undefined : Number(body.index)
          return (
            <div class="columns even">
              {premium === null ? null : (
                <div class="stack">
                  <SpotPicture history={body.history} strikes={strikes} chosen={body.strike} name={name} />
                  <PayoffPicture terms={termsOf(body, premium)} now={now} />
                </div>
              )}
              <div class="stack">
                <SeriesFacts detail={body} />
                <div class="row">
                  <QuotedBuy
                    series={series}
                    what={what}
                    premiumMicro={body.buyable ? body.premium_micro : null}
                    onLocked={setLocked}
                    onBought={onBought}
                  />
                  <Badge tone="warn">the premium is not refundable</Badge>
                </div>
                <LimitForm side="order" series={series} onBought={onBought} />
                <LimitForm side="write" series={series} onBought={onBought} />
                {trades.state === 'done' ? <LastTrades trades={trades.value.body.data} /> : null}
              </div>
            </div>
          )
        }}
      </Await>
    </section>
  )
}

const termsOf = ({ kind, strike, pays_up_to, size_micro }: Detail, premium: string) => ({
  kind,
  strike,
  paysUpTo: pays_up_to,
  sizeMicro: BigInt(size_micro),
  premiumMicro: BigInt(premium),
})

function LastTrades({ trades }: { trades: readonly OptionTrade[] }) {
  if (trades.length === 0) return null
  return (
    <p class="small">
      Last trades:{' '}
      {trades
        .map(({ kind, quantity, total_micro }) =>
          kind === 'revoked'
            ? `${quantity} revoked`
            : `${quantity} ${kind === 'sale' ? 'bought' : 'sold'} for ${centsOfMicro(total_micro ?? '0')}`,
        )
        .join(', ')}
    </p>
  )
}

function SeriesFacts({ detail }: { detail: Detail }) {
  return (
    <dl class="facts">
      <dt>Pays at most</dt>
      <dd>{centsOfMicro(detail.most_micro)}</dd>
      <dt>Trading ends</dt>
      <dd>
        <Age at={detail.last_trade_at} /> <span class="soft small">{timeText(detail.last_trade_at)}</span>
      </dd>
      <dt>Settles</dt>
      <dd>
        <Age at={detail.expires_at} />
      </dd>
      <dt>Index</dt>
      <dd>{detail.index ?? 'none yet'}</dd>
      <dt>Sold so far</dt>
      <dd>
        {detail.open_interest}, {centsOfMicro(detail.collateral_micro)} collateral
      </dd>
      <dt>Offered</dt>
      <dd class="small">
        {[
          ...detail.book
            .slice(0, 5)
            .map(({ quantity, premium_micro }) => `${quantity} at ${centsOfMicro(premium_micro)}`),
          ...(detail.vault === null
            ? []
            : [`${detail.vault.quantity} at ${centsOfMicro(detail.vault.premium_micro)} by the vault`]),
        ].join(', ') || 'none'}
      </dd>
      <dt>For sale by holders</dt>
      <dd class="small">
        {detail.resales
          .slice(0, 5)
          .map(({ quantity, premium_micro }) => `${quantity} at ${centsOfMicro(premium_micro)}`)
          .join(', ') || 'none'}
      </dd>
      <dt>Bids</dt>
      <dd class="small">
        {detail.bids
          .slice(0, 5)
          .map(({ quantity, premium_micro }) => `${quantity} at ${centsOfMicro(premium_micro)}`)
          .join(', ') || 'none'}
      </dd>
      <dt>Limit of this side</dt>
      <dd class="small">{centsOfMicro(detail.side_limit_micro_per_point)} a point, less than moving the index costs</dd>
      <dt>Greeks</dt>
      <dd class="small">
        {modelCells(detail)
          .map((cell, at) => `${modelColumns[at]} ${cell}`)
          .join(', ')}
        , model {Math.round(detail.volatility * 100)} %
      </dd>
    </dl>
  )
}
