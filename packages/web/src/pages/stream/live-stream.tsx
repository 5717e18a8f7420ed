import type { CloudEvent } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { useNotSold } from '../../node/use-not-sold.ts'
import { count, timeText, usd } from '../../ui/format.ts'
import { Badge, Notice, NotSold, Problem, Synthetic } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { keepToken, subscriptionTokens, tokenOf } from '../../wallet/tokens.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { Backfill } from './backfill.tsx'
import { TopicChart } from './topic-chart.tsx'
import { Topics, toneOf } from './topic-table.tsx'
import { tickIn, topicsOf } from './topics.ts'

const eventsKept = 2_000

/** The stream itself, for anyone who subscribed. */
export function LiveStream() {
  const index = useNode()
  const wallet = useStore(walletStore)
  useStore(subscriptionTokens)
  const [bought, setBought] = useState<Bought>()
  const token = tokenOf(wallet?.address, 'stream')
  const notSold = useNotSold()('market.intents.stream')
  const price = index.sold.find(({ path }) => path === '/v1/market/intent-stream')?.price_usd ?? '5000'
  return (
    <section class="sheet offer" aria-labelledby="live">
      <h2 id="live">Live</h2>
      {bought === undefined ? null : <Hallmarks bought={bought} fileName="evidence-stream.json" />}
      {token === undefined ? (
        <>
          <p>
            Every bucket as it closes, each event signed by itself, with a replay of what you missed. 30 days, one
            payment.
          </p>
          <div class="row">
            <BuyButton
              order={{ what: 'Intent stream, 30 days', url: `${index.api_url}/v1/market/intent-stream` }}
              label={`Subscribe for ${usd(price)}`}
              disabled={notSold !== undefined}
              onBought={(value) => {
                const given = (value.body as { token: string | null }).token
                if (given !== null && wallet !== undefined) keepToken(wallet.address, 'stream', given)
                setBought(value)
              }}
            />
            <NotSold why={notSold} />
          </div>
        </>
      ) : (
        <>
          <Events key={token} token={token} />
          <Backfill token={token} />
        </>
      )}
    </section>
  )
}

const tickerMax = 12

/** The newest figures as they come. Not announced: a screen reader would read nothing else. */
function Ticker({ events }: { events: readonly CloudEvent[] }) {
  const newest = events.slice(-tickerMax).flatMap((event) => {
    const tick = tickIn(event)
    return tick === undefined ? [] : [{ id: event.id, tick }]
  })
  return (
    <ul class="ticker" aria-label="Newest figures">
      {newest.reverse().map(({ id, tick }) => (
        <li key={id}>
          {tick.cluster.name} <b>{tick.demand}</b>
          {tick.trend.change_pct === null ? null : (
            <span class={toneOf(tick.trend.change_pct)}>
              {' '}
              {tick.trend.change_pct > 0 ? '+' : ''}
              {count(tick.trend.change_pct)} %
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function Events({ token }: { token: string }) {
  const index = useNode()
  const [running, setRunning] = useState(true)
  const [events, setEvents] = useState<CloudEvent[]>([])
  const [problem, setProblem] = useState<ProblemError>()
  useEffect(() => {
    if (!running) return
    const stop = new AbortController()
    import('./follow.ts')
      .then(({ follow }) =>
        follow(index, token, stop.signal, (event) => setEvents((known) => [...known, event].slice(-eventsKept))),
      )
      .catch((error: unknown) => stop.signal.aborted || setProblem(asProblem(error)))
    return () => stop.abort()
  }, [index, token, running])
  const last = events.at(-1)
  return (
    <div class="stack">
      <div class="row">
        <Badge tone={running ? 'good' : 'plain'}>{running ? 'listening' : 'stopped'}</Badge>
        <Synthetic of={events.some(({ data }) => data['synthetic'] === true)} />
        <span class="small soft">
          {events.length === 0
            ? 'Waiting for the next bucket to close.'
            : `${events.length} events, each signature verified; the last at ${timeText(last?.time ?? '')}`}
        </span>
        <button type="button" class="button small" onClick={() => setRunning(!running)}>
          {running ? 'Stop' : 'Listen again'}
        </button>
      </div>
      <Problem problem={problem} />
      {events.length === 0 ? (
        <Notice>What was published in the last hours comes first, then each bucket as it closes.</Notice>
      ) : (
        <>
          <Ticker events={events} />
          <TopicChart topics={topicsOf(events)} />
          <Topics topics={topicsOf(events)} />
        </>
      )}
    </div>
  )
}
