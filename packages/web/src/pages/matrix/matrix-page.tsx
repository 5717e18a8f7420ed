import type { MatrixAnswer, MatrixIndexEntry } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Notice, PageHead } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { FactorDrawer } from './factor-drawer.tsx'
import { FeedPane } from './feed-pane.tsx'
import { LiveOffer } from './live-offer.tsx'
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
                        {id}
                      </a>
                    </li>
                  ))}
                </ul>
              </nav>
              {feed === undefined ? <Notice>No feed is sold on this node.</Notice> : <Feed key={feed.id} feed={feed} />}
            </>
          )
        }}
      </Await>
    </>
  )
}

const rowsShown = 20

function Feed({ feed }: { feed: MatrixIndexEntry & { columns: Column[] } }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [symbol, setSymbol] = useState('')
  const [live, setLive] = useState<Pulled>()
  const [open, setOpen] = useState<string>()
  const filter = symbol === '' ? '' : `&symbol=${encodeURIComponent(symbol)}`
  const [delayed, again] = useAnswer(`${feed.id}${filter}`, (signal) =>
    ask<MatrixAnswer>(`${index.base_url}/matrix/${feed.id}/delayed?limit=${rowsShown}${filter}`, { signal }),
  )
  // What one wallet bought is not shown as the other's.
  useEffect(() => setLive(undefined), [wallet?.address])
  const drawerRow =
    open === undefined
      ? undefined
      : (live?.answer.data.find((row) => row.symbol === open) ??
        (delayed.state === 'done' ? delayed.value.body.data.find((row) => row.symbol === open) : undefined))
  return (
    <>
      <div class="row apart">
        <div class="stack tight">
          <h2>{feed.title}</h2>
          <p class="soft small">{feed.cadence}</p>
        </div>
        <SymbolForm onSearch={setSymbol} />
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
              onOpen={setOpen}
            />
          )}
        </Await>
        {live === undefined ? (
          <LiveOffer feed={feed} limit={rowsShown} filter={filter} onPulled={setLive} />
        ) : (
          <FeedPane
            title="Live"
            columns={feed.columns}
            answer={live.answer}
            bought={live.bought}
            other={delayed.state === 'done' ? delayed.value.body : undefined}
            onOpen={setOpen}
          />
        )}
      </div>
      <Plans />
      {drawerRow === undefined ? null : <FactorDrawer row={drawerRow} feed={feed} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function SymbolForm({ onSearch }: { onSearch: (symbols: string) => void }) {
  const [text, setText] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim().toUpperCase())
      }}
    >
      <input
        class="symbol-input"
        aria-label="Symbols, separated by commas"
        placeholder="All symbols"
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
