import { useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useEvery } from '../../node/use-every.ts'
import { ageText, centsOfMicro, timeText } from '../../ui/format.ts'
import { Await, Notice, PageHead, Scroll, Synthetic } from '../../ui/parts.tsx'
import { type ChainRow, chainOf, expiriesOf, firstBuyable, modelCells, modelColumns, type Series } from './chain.ts'
import { type Placed, PlacedPanel } from './placed-panel.tsx'
import { Positions } from './positions.tsx'
import { SeriesPanel } from './series-panel.tsx'
import { VaultPanel } from './vault.tsx'

type Cluster = { id: string; name: string }

/** Calls and puts on how much agents care about a topic. */
export function OptionsPage({ route }: PageProps) {
  const index = useNode()
  const open = offers(index, '/v1/options/series')
  const [series, again] = useAnswer(open ? 'series' : null, (signal) =>
    ask<{ data: Series[] }>(`${index.api_url}/v1/options/series`, { signal }),
  )
  const topics = '/v1/market/intent-stream/clusters'
  const [clusters] = useAnswer(open && offers(index, topics) ? 'topics' : null, (signal) =>
    ask<{ data: Cluster[] }>(`${index.api_url}${topics}`, { signal }),
  )
  useEvery(10_000, again)
  // Kept here: the panel of a series goes when the series does.
  const [placed, setPlaced] = useState<Placed>()
  const names = new Map(clusters.state === 'done' ? clusters.value.body.data.map(({ id, name }) => [id, name]) : [])
  return (
    <>
      <PageHead title="Topic options">
        <p class="lead">
          A call pays when agents turn to a topic, a put when they turn away. The premium is the most you can lose;
          every contract is fully collateralised before it is sold.
        </p>
      </PageHead>
      <Await of={series} what="Reading the chain" idle={<Notice>The options shop is not open on this node.</Notice>}>
        {({ body }) => (
          <Chain
            series={body.data.filter(({ state }) => state === 'trading')}
            names={names}
            chosen={route.rest[0]}
            onPlaced={(next) => {
              setPlaced(next)
              again()
            }}
          />
        )}
      </Await>
      {open ? (
        <>
          {placed === undefined ? null : <PlacedPanel key={placed.id} placed={placed} />}
          <Positions />
          <VaultPanel />
        </>
      ) : null}
    </>
  )
}

function Chain({
  series,
  names,
  chosen,
  onPlaced,
}: {
  series: readonly Series[]
  names: ReadonlyMap<string, string>
  chosen: string | undefined
  onPlaced: (placed: Placed) => void
}) {
  const clusters = [...new Set(series.map(({ cluster }) => cluster))]
  const picked = series.find(({ symbol }) => symbol === chosen)
  const [wanted, setWanted] = useState<string>()
  const [expiry, setExpiry] = useState<string>()
  const cluster = wanted ?? picked?.cluster ?? clusters[0]
  const expiries = expiriesOf(series, cluster)
  const until =
    expiry !== undefined && expiries.includes(expiry)
      ? expiry
      : (picked?.expires_at ?? firstBuyable(series, cluster) ?? expiries[0])
  if (cluster === undefined || until === undefined)
    return <Notice>No series trades at the moment. New ones are listed as the index moves.</Notice>
  const rows = chainOf(series, cluster, until)
  return (
    <>
      <section class="sheet" aria-labelledby="chain">
        <header>
          <h2 id="chain">Chain</h2>
          <Synthetic of={series.some(({ synthetic }) => synthetic)} />
        </header>
        <div class="columns">
          <label class="field">
            <span>Topic</span>
            <select value={cluster} onChange={(event) => setWanted(event.currentTarget.value)}>
              {clusters.map((id) => (
                <option key={id} value={id}>
                  {names.get(id) ?? id}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Ends</span>
            <select value={until} onChange={(event) => setExpiry(event.currentTarget.value)}>
              {expiries.map((at) => (
                <option key={at} value={at}>
                  {ageText(at, Date.now())}, {timeText(at)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <ChainTable rows={rows} chosen={chosen} />
      </section>
      {picked === undefined ? (
        <p class="soft">Choose a premium to see what it pays.</p>
      ) : (
        <SeriesPanel
          key={picked.symbol}
          series={picked}
          name={names.get(picked.cluster) ?? picked.cluster}
          strikes={chainOf(series, picked.cluster, picked.expires_at).map(({ strike }) => strike)}
          onPlaced={onPlaced}
        />
      )}
    </>
  )
}

function ChainTable({ rows, chosen }: { rows: readonly ChainRow[]; chosen: string | undefined }) {
  return (
    <Scroll label="Option chain">
      <table class="option-chain">
        <thead>
          <tr>
            {[...modelColumns].reverse().map((title) => (
              <th key={title} scope="col" class="right model" aria-label={`${title} of the call`}>
                {title}
              </th>
            ))}
            <th scope="col" class="right premium">
              Call
            </th>
            <th scope="col" class="strike">
              Strike
            </th>
            <th scope="col" class="premium">
              Put
            </th>
            {modelColumns.map((title) => (
              <th key={title} scope="col" class="right model" aria-label={`${title} of the put`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ strike, call, put }) => (
            <tr key={strike}>
              <ModelCells series={call} mirrored />
              <td class="right">
                <Premium series={call} chosen={chosen} />
              </td>
              <th scope="row" class="strike">
                {strike}
              </th>
              <td>
                <Premium series={put} chosen={chosen} />
              </td>
              <ModelCells series={put} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** On a phone the chain keeps to premiums; the panel of a series has the same figures. */
function ModelCells({ series, mirrored }: { series: Series | undefined; mirrored?: boolean }) {
  const cells = modelColumns.map((title, at) => (
    <td key={title} class="right small model">
      {series === undefined ? '' : modelCells(series)[at]}
    </td>
  ))
  return <>{mirrored ? cells.reverse() : cells}</>
}

function Premium({ series, chosen }: { series: Series | undefined; chosen: string | undefined }) {
  if (series === undefined) return <span class="soft">–</span>
  const text = series.premium_micro === null ? 'no offer' : centsOfMicro(series.premium_micro)
  return (
    <a
      class="chip"
      href={linkTo('options', [series.symbol])}
      aria-current={series.symbol === chosen ? 'true' : undefined}
      aria-label={`${series.kind} at ${series.strike}: ${text}`}
    >
      {text}
    </a>
  )
}
