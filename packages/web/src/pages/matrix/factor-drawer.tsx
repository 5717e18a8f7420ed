import type { MatrixAnswer, MatrixIndexEntry, MatrixRow } from '@assay/sdk'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { figure, sentence, usd, words } from '../../ui/format.ts'
import { CloseIcon } from '../../ui/icons.tsx'
import { Badge, Heads, Synthetic } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { bearerOf } from '../../wallet/tokens.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { AlertForm } from './alert-form.tsx'
import { ageTone } from './heat.ts'
import { HistoryChart } from './history-chart.tsx'
import type { Column } from './types.ts'

type Props = { row: MatrixRow; feed: MatrixIndexEntry & { columns: readonly Column[] }; onClose: () => void }

/** One symbol: where each figure comes from and, for the vip price, what its score is made of. */
export function FactorDrawer({ row, feed, onClose }: Props) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const dialog = useRef<HTMLDialogElement>(null)
  const [bought, setBought] = useState<Bought>()
  useEffect(() => dialog.current?.showModal(), [])
  const vip = bought?.body as MatrixAnswer | undefined
  const detailed = vip?.data.find(({ symbol }) => symbol === row.symbol)
  return (
    <dialog ref={dialog} class="drawer" aria-labelledby="drawer-title" onClose={onClose}>
      <div class="stack">
        <div class="row apart">
          <h2 id="drawer-title">{row.symbol}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <CloseIcon />
          </button>
        </div>
        <p class="row">
          {row.name} <Synthetic of={feed.freshness.synthetic} />
          {row.catalysts?.map((catalyst) => (
            <Badge key={catalyst} tone="gold">
              {words(catalyst)}
            </Badge>
          ))}
        </p>
        <Values values={row.values} columns={feed.columns} />
        <AlertForm symbol={row.symbol} feed={feed} />
        {bought === undefined ? (
          <div class="notice">
            <strong>What makes up the score?</strong>
            <p class="small">
              The vip pull has each factor with its weight and percentile, and 60 days of every series.
            </p>
            <p>
              <BuyButton
                small
                order={{
                  what: `Factors and history of ${row.symbol}`,
                  url: `${index.base_url}/matrix/${feed.id}/vip?symbol=${encodeURIComponent(row.symbol)}&history=60`,
                  headers: bearerOf(wallet?.address),
                }}
                label={`Show factors for ${usd(feed.prices.vip?.usd ?? '0')}`}
                onBought={setBought}
              />
            </p>
          </div>
        ) : (
          <Hallmarks bought={bought} fileName={`evidence-${row.symbol}.json`} />
        )}
        {detailed?.factors === undefined ? null : <Factors factors={detailed.factors} score={detailed.score} />}
        {vip?.history === undefined ? null : <HistoryChart history={vip.history} />}
      </div>
    </dialog>
  )
}

const unitsLeftOut = new Set(['text', 'code', 'time', 'flag', '0..100'])

function Values({ values, columns }: { values: MatrixRow['values']; columns: readonly Column[] }) {
  const unitOf = (name: string) => columns.find((column) => column.name === name)?.unit ?? ''
  return (
    <dl class="facts">
      {Object.entries(values).map(([name, value]) => [
        <dt key={name}>{sentence(name)}</dt>,
        <dd key={`${name} value`}>
          <b>{value === null ? '–' : figure(value.value)}</b>
          {value === null || unitsLeftOut.has(unitOf(name)) ? null : <span class="soft"> {unitOf(name)}</span>}
          {value === null ? null : (
            <span class="source">
              <Badge tone={ageTone(value.as_of, Date.now())}>as of {value.as_of.slice(0, 10)}</Badge>{' '}
              {value.source.split('+').join(', ')}
            </span>
          )}
        </dd>,
      ])}
    </dl>
  )
}

function Factors({ factors, score }: { factors: NonNullable<MatrixRow['factors']>; score: number | undefined }) {
  return (
    <section class="stack tight" aria-labelledby="factors">
      <h3 id="factors">What makes up the score of {score}</h3>
      <table class="factors">
        <Heads titles={['Factor', 'Value', 'Percentile', 'Weight', 'Points']} right={['Value', 'Weight', 'Points']} />
        <tbody>
          {Object.entries(factors).map(([name, factor]) => (
            <tr key={name}>
              <th scope="row">{sentence(name)}</th>
              <td class="right">{factor === null ? '–' : figure(factor.value)}</td>
              <td>
                {factor === null ? (
                  <span class="soft">not known</span>
                ) : (
                  <span class="meter" title={`${figure(factor.percentile)} of 100`}>
                    <i style={{ width: `${Math.max(0, Math.min(100, factor.percentile))}%` }} />
                    <span class="visually-hidden">{figure(factor.percentile)} of 100</span>
                  </span>
                )}
              </td>
              <td class="right">{factor === null ? '–' : `${figure(factor.weight)} %`}</td>
              <td class="right">{factor === null ? '–' : figure(factor.points)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
