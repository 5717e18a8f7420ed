import { useState } from 'preact/hooks'
import { go, linkTo } from '../../app/route.ts'
import { useNode } from '../../node/context.ts'
import { type NodeIndex, networkName, type SoldItem } from '../../node/node-index.ts'
import { type Readiness, readReadiness } from '../../node/read-checks.ts'
import { type Loading, useAnswer } from '../../node/use-answer.ts'
import { whyNotSold } from '../../node/use-not-sold.ts'
import { usd } from '../../ui/format.ts'
import { Badge, Hex, Notice, PageHead, Problem, Synthetic } from '../../ui/parts.tsx'

/** What is sold, at what price, and how the node is doing. */
export function StartPage() {
  const index = useNode()
  const [ready, again] = useAnswer('ready', (signal) => readReadiness(index, signal))
  return (
    <>
      <PageHead title="Answers you can check, paid by the call">
        <p class="lead">
          Every answer of this node is signed, says where its figures come from, and costs what is written beside it: no
          account, no contract, one USDC payment for one answer.
        </p>
      </PageHead>
      <TokenForm />
      <Shops index={index} ready={ready} />
      <div class="columns even">
        <LiveState ready={ready} again={again} />
        <HowItWorks index={index} />
      </div>
      <PriceList index={index} />
    </>
  )
}

function TokenForm() {
  const [address, setAddress] = useState('')
  const demo = useNode().demo?.tokens ?? []
  return (
    <section class="sheet hero" aria-labelledby="try">
      <h2 id="try">Who controls a token?</h2>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          if (address.trim() !== '') go('token', [address.trim()])
        }}
      >
        <input
          aria-label="Address of a B20 token on Base"
          placeholder="0x…, a token on Base"
          class="mono"
          value={address}
          onInput={(event) => setAddress(event.currentTarget.value)}
          spellcheck={false}
          autocomplete="off"
        />
        <button type="submit" class="button main">
          Check it, free
        </button>
      </form>
      {demo.length === 0 ? null : (
        <div class="stack tight">
          <p class="small soft">
            Or one of the demo tokens <Synthetic of={true} />
          </p>
          <ul class="chips">
            {demo.slice(0, 6).map((token) => (
              <li key={token.address}>
                <a class="chip" href={linkTo('token', [token.address])}>
                  {token.key ?? token.address}
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

const shops: readonly { page: string; title: string; text: string; from: string; per: string; free: string }[] = [
  {
    page: 'token',
    title: 'Token control',
    text: 'Who can mint, seize, freeze or pause a token, read at one block and attested.',
    from: 'tokens.report',
    per: 'a report',
    free: 'verdict is free',
  },
  {
    page: 'matrix',
    title: 'Squeeze matrix',
    text: 'Short interest, borrow fees and fails of every listed share, ranked, with the age of each figure.',
    from: 'matrix.live',
    per: 'a pull',
    free: 'delayed is free',
  },
  {
    page: 'search',
    title: 'Citable sources',
    text: 'Ranked pages for a question, with quotes, licences and a score of how citable a source is.',
    from: 'citations.match',
    per: 'a search',
    free: 'scores are free',
  },
  {
    page: 'stream',
    title: 'Intent stream',
    text: 'What agents are asking for right now, by topic, as a live stream.',
    from: 'market.intents.stream',
    per: '30 days',
    free: 'sample is free',
  },
  {
    page: 'options',
    title: 'Topic options',
    text: 'Calls and puts on topic clusters, fully collateralised, premium paid upfront.',
    from: 'options.buy',
    per: 'a contract',
    free: 'chain is free',
  },
]

function Shops({ index, ready }: { index: NodeIndex; ready: Loading<Readiness> }) {
  return (
    <section class="stack tight" aria-labelledby="shops">
      <h2 id="shops">What is sold here</h2>
      <ul class="tariff">
        {shops.map((shop) => {
          const item = index.sold.find((sold) => sold.id === shop.from)
          return (
            <li key={shop.page}>
              <a href={`#/${shop.page}`}>
                <span class="tariff-price">
                  {item === undefined ? <span class="soft">closed</span> : priceText(item)}
                  {item === undefined ? null : <small>{shop.per}</small>}
                </span>
                <span class="tariff-text">
                  <b>{shop.title}</b>
                  <span>{shop.text}</span>
                </span>
                <span class="tariff-free">
                  {item === undefined ? 'not open on this node' : shop.free}
                  {whyNotSold(ready, shop.from) === undefined ? null : <Badge tone="warn">not sold now</Badge>}
                </span>
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const priceText = (item: SoldItem) =>
  item.price_usd_max === undefined ? usd(item.price_usd) : `from ${usd(item.price_usd)}`

function LiveState({ ready, again }: { ready: Loading<Readiness>; again: () => void }) {
  const index = useNode()
  const checks = ready.state === 'done' ? ready.value.checks : []
  const loading = index.demo?.matrix?.loading
  return (
    <section class="sheet" aria-labelledby="live">
      <header>
        <h2 id="live">State of the node</h2>
        <span class="grow" />
        <button type="button" class="button small" onClick={again}>
          Refresh
        </button>
      </header>
      <div class="stack tight live-state">
        {ready.state === 'failed' ? <Problem problem={ready.problem} /> : null}
        {ready.state === 'done' && !ready.value.ready ? (
          <Notice tone="bad">
            <strong>The node is not ready to sell.</strong>
          </Notice>
        ) : null}
        <ul class="lamps">
          {checks.map(({ name, ok }) => (
            <li key={name}>
              <i class={ok ? 'lamp on' : 'lamp off'} aria-hidden="true" />
              {name} <span class={ok ? 'visually-hidden' : 'bad-text'}>{ok ? 'ok' : 'failed'}</span>
            </li>
          ))}
        </ul>
        {loading?.state === 'loading' ? (
          <p class="small soft">
            Demo market data is still loading: {loading.files} of {loading.of} files.
          </p>
        ) : null}
      </div>
      <dl class="facts">
        <dt>Signing key</dt>
        <dd>
          <Hex value={index.keys.key_id} what="key id" />
        </dd>
        <dt>Networks</dt>
        <dd>{index.networks.map(({ network }) => networkName(index, network)).join(', ')}</dd>
        <dt>Contact</dt>
        <dd>{index.contact}</dd>
      </dl>
    </section>
  )
}

function HowItWorks({ index }: { index: NodeIndex }) {
  return (
    <section class="sheet" aria-labelledby="how">
      <h2 id="how">How buying works</h2>
      <ol class="how">
        <li>You ask. The node answers 402 with its price, signed.</li>
        <li>You see price, network and payee, and sign one authorization for exactly that.</li>
        <li>The node prepares the answer first, takes the money second, and hands over both with a receipt.</li>
        <li>
          Your browser checks the signatures. Keep the file: the <a href="#/verify">verifier</a> reads it without this
          node.
        </li>
      </ol>
      <p class="small soft">
        {index.demo === undefined
          ? 'Your own wallet signs; it never sends a transaction.'
          : 'On this demo node a lent wallet signs with test money.'}{' '}
        Programs use the same routes: <a href="/openapi.json">OpenAPI</a>, <a href="/llms.txt">llms.txt</a>,{' '}
        <a href="/reference">reference</a>.
      </p>
    </section>
  )
}

function PriceList({ index }: { index: NodeIndex }) {
  return (
    <section class="sheet" aria-labelledby="prices">
      <details>
        <summary id="prices">All {index.sold.length} prices</summary>
        <ul class="prices">
          {index.sold.map((item) => (
            <li key={item.id}>
              <div>
                <span>{item.summary}</span>
                <code class="soft">
                  {item.method} {item.path}
                </code>
              </div>
              <b>{priceText(item)}</b>
            </li>
          ))}
        </ul>
      </details>
    </section>
  )
}
