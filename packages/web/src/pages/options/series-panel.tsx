import type { OptionTrade } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { centsOfMicro, timeText } from '../../ui/format.ts'
import { Age, Await, Badge, Notice, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { modelCells, modelColumns, type Series } from './chain.ts'
import { LimitForm } from './limit-form.tsx'
import { PayoffPicture } from './payoff-picture.tsx'
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

/** One series: what it pays, what it costs, and what that rests on. */
export function SeriesPanel({ series, name, strikes }: { series: Series; name: string; strikes: readonly number[] }) {
  const index = useNode()
  const [bought, setBought] = useState<Bought>()
  const [locked, setLocked] = useState<string>()
  const [detail, again] = useAnswer(series.symbol, (signal) =>
    ask<Detail>(`${index.api_url}/v1/options/series/${encodeURIComponent(series.symbol)}`, { signal }),
  )
  return (
    <section class="sheet" aria-labelledby="series">
      <header>
        <h2 id="series">
          {series.kind === 'call' ? 'Call' : 'Put'} on {name} at {series.strike}
        </h2>
        <Synthetic of={series.synthetic} />
        {detail.state === 'done' ? <Signed exchange={detail.value.exchange} /> : null}
      </header>
      {bought === undefined ? null : (
        <>
          <Notice tone="good">
            <strong>{boughtText(bought.body as Placed)}</strong>
          </Notice>
          <Hallmarks bought={bought} fileName={`evidence-${series.symbol}.json`} />
        </>
      )}
      <Await of={detail} what="Reading the series" again={again}>
        {({ body }) => {
          // What was paid, what is locked, or what it costs now.
          const paid = paidFor(bought?.body as Placed | undefined)
          const premium = paid ?? locked ?? body.premium_micro ?? body.model_micro
          const now = body.index === null ? undefined : Number(body.index)
          return (
            <div class="columns even">
              {premium === null ? null : (
                <div class="stack">
                  <SpotPicture history={body.history} strikes={strikes} chosen={body.strike} name={name} />
                  <PayoffPicture
                    terms={{
                      kind: body.kind,
                      strike: body.strike,
                      paysUpTo: body.pays_up_to,
                      sizeMicro: BigInt(body.size_micro),
                      premiumMicro: BigInt(premium),
                    }}
                    now={now}
                  />
                </div>
              )}
              <div class="stack">
                <SeriesFacts detail={body} />
                <div class="row">
                  <QuotedBuy
                    series={series}
                    what={`${series.kind === 'call' ? 'Call' : 'Put'} on ${name} at ${series.strike}`}
                    premiumMicro={body.buyable ? body.premium_micro : null}
                    onLocked={setLocked}
                    onBought={setBought}
                  />
                  <Badge tone="warn">the premium is not refundable</Badge>
                </div>
                <LimitForm side="order" series={series} onBought={setBought} />
                <LimitForm side="write" series={series} onBought={setBought} />
                <LastTrades symbol={series.symbol} />
              </div>
            </div>
          )
        }}
      </Await>
    </section>
  )
}

type Placed = { position_id?: string; offer_id?: string; order_id?: string; premium_micro?: string }

/** The premium of a purchase; that of an own offer is what others pay. */
const paidFor = (placed: Placed | undefined) => (placed?.position_id === undefined ? undefined : placed.premium_micro)

function boughtText({ position_id, offer_id, order_id }: Placed): string {
  if (order_id !== undefined) return `Ordered: ${order_id}`
  return offer_id === undefined ? `Yours: ${position_id}` : `Offered: ${offer_id}`
}

function LastTrades({ symbol }: { symbol: string }) {
  const index = useNode()
  const [trades] = useAnswer(symbol, (signal) =>
    ask<{ data: OptionTrade[] }>(`${index.api_url}/v1/options/trades?symbol=${encodeURIComponent(symbol)}&limit=5`, {
      signal,
    }),
  )
  if (trades.state !== 'done' || trades.value.body.data.length === 0) return null
  return (
    <p class="small">
      Last trades:{' '}
      {trades.value.body.data
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
      <dt>Last trade</dt>
      <dd>
        <Age at={detail.last_trade_at} /> <span class="soft small">{timeText(detail.last_trade_at)}</span>
      </dd>
      <dt>Ends</dt>
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
