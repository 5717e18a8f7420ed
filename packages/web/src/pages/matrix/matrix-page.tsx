import type { MatrixAnswer, MatrixIndexEntry, MatrixRow } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { go, linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { problemFrom } from '../../node/problem.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { capital } from '../../ui/format.ts'
import { Await, Notice, PageHead, saveFile } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { FactorDrawer } from './factor-drawer.tsx'
import { FeedPane } from './feed-pane.tsx'
import { firstView, nextSort, queryOf, type View } from './grid.ts'
import { LiveOffer } from './live-offer.tsx'
import { PastMonths } from './past-months.tsx'
import { Plans } from './plans.tsx'
import type { Column, Pulled } from './types.ts'

/** Short-squeeze data as a heat map: the delayed tier for nothing, the live one beside it. */
export function MatrixPage({ route }: PageProps) {
  const index = useNode()
  const [feeds] = useAnswer(offers(index, '/matrix') ? 'feeds' : null, (signal) =>
    ask<{ data: (MatrixIndexEntry & { columns: Column[] })[] }>(`${index.base_url}/matrix`, { signal }),
  )
  return (
    <>
      <PageHead title="Squeeze matrix">
        <p class="lead">
          Where short sellers could be forced to cover. Each figure has its own date; a score ranks, it predicts
          nothing.
        </p>
      </PageHead>
      <Await of={feeds} what="Reading the feeds" idle={<Notice>The market data shop is not open on this node.</Notice>}>
        {({ body }) => {
          const feed = body.data.find(({ id }) => id === (route.rest[0] ?? 'squeeze')) ?? body.data[0]
          return (
            <>
              <nav aria-label="Feeds">
                <ul class="chips">
                  {body.data.map(({ id, title }) => (
                    <li key={id}>
                      <a
                        class="chip"
                        href={linkTo('matrix', [id])}
                        title={title}
                        aria-current={id === feed?.id ? 'true' : undefined}
                      >
                        {feedName(id)}
                      </a>
                    </li>
                  ))}
                </ul>
              </nav>
              {feed === undefined ? (
                <Notice>No feed is sold on this node.</Notice>
              ) : (
                <Feed key={feed.id} feed={feed} open={route.rest[1]} />
              )}
            </>
          )
        }}
      </Await>
    </>
  )
}

const shortNames: Record<string, string> = { etf: 'ETFs', ftd: 'Fails to deliver' }
const feedName = (id: string) => shortNames[id] ?? capital(id.replaceAll('-', ' '))

const rowsShown = 20
/** The largest page of the free tier. */
const exportedMax = 25_000

type FeedProps = { feed: MatrixIndexEntry & { columns: Column[] }; open: string | undefined }

function Feed({ feed, open }: FeedProps) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [view, setView] = useState<View>(firstView)
  const [live, setLive] = useState<Pulled>()
  const source = `${index.base_url}/matrix/${feed.id}/delayed`
  const query = queryOf(view)
  const cursor = view.cursors.at(-1)
  const url = `${source}?limit=${rowsShown}${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`
  const [delayed, again] = useAnswer(url, (signal) => ask<MatrixAnswer>(url, { signal }))
  // What one wallet bought is not shown as the other's.
  useEffect(() => setLive(undefined), [wallet?.address])
  const change = (part: Partial<View>) => setView((before) => ({ ...before, cursors: [], ...part }))
  const shown = [...(live?.answer.data ?? []), ...(delayed.state === 'done' ? delayed.value.body.data : [])]
  return (
    <>
      <div class="row apart">
        <div class="stack tight">
          <h2>{feed.title}</h2>
          <p class="soft small">{feed.cadence}</p>
        </div>
        <FilterForm columns={feed.columns} onShow={change} />
      </div>
      <div class="panes">
        <Await of={delayed} what="Reading the delayed feed" again={again}>
          {(answer) => (
            <FeedPane
              title="Delayed, free"
              columns={feed.columns}
              answer={answer.body}
              exchange={answer.exchange}
              other={live?.answer}
              paging={{
                sort: view.sort,
                onSort: (column) => change({ sort: nextSort(view.sort, column) }),
                before: view.cursors.length * rowsShown,
                onPrevious: () => change({ cursors: view.cursors.slice(0, -1) }),
                onNext: (next) => change({ cursors: [...view.cursors, next] }),
                onExport: async () => {
                  const answer = await fetch(`${source}?limit=${exportedMax}${query}`, {
                    headers: { accept: 'text/csv' },
                  })
                  if (!answer.ok) throw problemFrom(answer.status, await answer.json())
                  saveFile(`${feed.id}.csv`, await answer.text(), 'text/csv')
                },
              }}
            />
          )}
        </Await>
        {live === undefined ? (
          <LiveOffer feed={feed} limit={rowsShown} filter={query} onPulled={setLive} />
        ) : (
          <FeedPane
            title="Live"
            columns={feed.columns}
            answer={live.answer}
            bought={live.bought}
            other={delayed.state === 'done' ? delayed.value.body : undefined}
          />
        )}
      </div>
      <PastMonths feed={feed.id} />
      <Plans />
      {open === undefined || delayed.state === 'waiting' ? null : (
        <OpenSymbol key={open} symbol={open} feed={feed} known={shown.find(({ symbol }) => symbol === open)} />
      )}
    </>
  )
}

/** One symbol has its own address; a row that is not shown is asked for. */
type SymbolProps = { symbol: string; feed: FeedProps['feed']; known: MatrixRow | undefined }

function OpenSymbol({ symbol, feed, known }: SymbolProps) {
  const index = useNode()
  const url = `${index.base_url}/matrix/${feed.id}/delayed?limit=1&symbol=${encodeURIComponent(symbol)}`
  const [found] = useAnswer(known === undefined ? url : null, (signal) => ask<MatrixAnswer>(url, { signal }))
  const row = known ?? (found.state === 'done' ? found.value.body.data[0] : undefined)
  if (row !== undefined) return <FactorDrawer row={row} feed={feed} onClose={() => go('matrix', [feed.id])} />
  return found.state === 'done' ? <Notice>{symbol} is not in this feed.</Notice> : null
}

const conditions = /^[a-z_.]+(?:>=|<=|!=|>|<|=)[^,]+(?:,[a-z_.]+(?:>=|<=|!=|>|<|=)[^,]+)*$/

/** Symbols such as `GME,AMC`, or conditions such as `days_to_cover>=2,kind=share`. */
function FilterForm({ columns, onShow }: { columns: Column[]; onShow: (part: Partial<View>) => void }) {
  const [text, setText] = useState('')
  const example = columns.find(({ unit, tier }) => tier === 'live' && unit !== '')?.name ?? 'score'
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        const wanted = text.replaceAll(' ', '')
        if (conditions.test(wanted)) onShow({ symbols: '', filter: wanted })
        else onShow({ symbols: wanted.toUpperCase(), filter: '' })
      }}
    >
      <input
        class="symbol-input"
        aria-label="Symbols or conditions, separated by commas"
        placeholder={`All; GME,AMC; ${example}>10`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        spellcheck={false}
      />
      <button type="submit" class="button">
        Show
      </button>
    </form>
  )
}
