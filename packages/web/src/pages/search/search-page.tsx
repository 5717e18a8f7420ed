import type { Match, MatchedPage } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useNotSold } from '../../node/use-not-sold.ts'
import { usd } from '../../ui/format.ts'
import { Age, Badge, CopyText, Hex, Notice, NotSold, PageHead, Synthetic } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { ScoreRing } from '../sources/score-ring.tsx'

const questions = [
  'who can seize a token',
  'days to cover and short squeezes',
  'how agents pay per request',
  'custody of keys',
]

/** Ranked, citable pages for a question. */
export function SearchPage({ route }: PageProps) {
  const index = useNode()
  const [query, setQuery] = useState(route.query.get('q') ?? '')
  const [minScore, setMinScore] = useState('0')
  const [bought, setBought] = useState<Bought>()
  const notSold = useNotSold()('citations.match')
  const price = index.sold.find(({ id }) => id === 'citations.match')?.price_usd
  if (price === undefined || !offers(index, '/v1/match'))
    return (
      <PageHead title="Find sources to cite">
        <Notice>The search shop is not open on this node.</Notice>
      </PageHead>
    )
  const text = query.trim()
  return (
    <>
      <PageHead title="Find sources to cite">
        <p class="lead">
          Pages of registered sources, best first: by how well they fit, how citable their source is, and how fresh they
          are. What you quote can be stamped, and its creator is paid.
        </p>
      </PageHead>
      <section class="sheet hero" aria-label="Your question">
        <label class="field">
          <span>Question</span>
          <input value={query} onInput={(event) => setQuery(event.currentTarget.value)} placeholder={questions[0]} />
        </label>
        {index.demo === undefined ? null : <DemoQuestions onChoose={setQuery} />}
        <div class="row">
          <BuyButton
            order={{
              what: `Search: ${text}`,
              method: 'POST',
              url: `${index.api_url}/v1/match`,
              body: {
                query: text,
                limit: 10,
                ...(minScore === '0' ? {} : { min_score: Number(minScore) }),
              },
            }}
            label={`Search for ${usd(price)}`}
            disabled={text.length < 2 || notSold !== undefined}
            onBought={setBought}
          />
          <label class="row small">
            <span>CiteScore at least</span>
            <select class="series-select" value={minScore} onChange={(event) => setMinScore(event.currentTarget.value)}>
              {['0', '30', '50', '60'].map((score) => (
                <option key={score} value={score}>
                  {score === '0' ? 'any' : score}
                </option>
              ))}
            </select>
          </label>
        </div>
        <NotSold why={notSold} />
      </section>
      {bought === undefined ? null : <Results bought={bought} />}
    </>
  )
}

function DemoQuestions({ onChoose }: { onChoose: (question: string) => void }) {
  return (
    <ul class="chips" aria-label="Questions the demo sources answer">
      {questions.map((example) => (
        <li key={example}>
          <button type="button" class="chip" onClick={() => onChoose(example)}>
            {example}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Results({ bought }: { bought: Bought }) {
  const match = bought.body as Match
  const suggested = Object.entries(match.understood.suggestions)
  return (
    <section class="stack" aria-labelledby="results">
      <div class="row">
        <h2 id="results">
          {match.data.length} {match.data.length === 1 ? 'page' : 'pages'}
        </h2>
        <Synthetic of={match.synthetic} />
      </div>
      <Hallmarks bought={bought} fileName={`evidence-${match.query_id}.json`} />
      {suggested.length === 0 ? null : (
        <p class="soft">Not found: {suggested.map(([word, near]) => `${word} (did you mean ${near}?)`).join(', ')}</p>
      )}
      {match.data.length === 0 ? (
        <Notice>No registered source has a page on this. The question was answered, so it was charged.</Notice>
      ) : null}
      <ol class="results">
        {match.data.map((page) => (
          <Result key={page.url} page={page} queryId={match.query_id} />
        ))}
      </ol>
    </section>
  )
}

/** Cite stamps the page and pays its creator; Copy takes the quote with its address; Open leaves the console. */
function ResultActions({ page, queryId }: { page: MatchedPage; queryId: string }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [cited, setCited] = useState<Bought>()
  const quote = page.snippet === null ? page.url : `“${page.snippet}” (${page.title}, ${page.url})`
  const id = (cited?.body as { id?: string } | undefined)?.id
  return (
    <div class="stack tight">
      <div class="row">
        {wallet === undefined || page.price === null || !offers(index, '/v1/cite/attest') ? null : (
          <BuyButton
            small
            order={{
              what: `Cite ${page.title}`,
              method: 'POST',
              url: `${index.api_url}/v1/cite/attest`,
              body: { source_url: page.url, agent_wallet: wallet.address, query_id: queryId },
            }}
            label={`Cite for ${usd(page.price.attest_usd)}`}
            onBought={setCited}
          />
        )}
        <CopyText text={quote} what={page.snippet === null ? 'Copy the address' : 'Copy the quote'} />
        <a class="button small" href={page.url} target="_blank" rel="noopener noreferrer">
          Open
        </a>
      </div>
      {cited === undefined ? null : (
        <>
          <p class="small" role="status">
            Cited. {id === undefined ? null : <a href={linkTo('explorer', [id])}>See the attestation</a>}
          </p>
          <Hallmarks bought={cited} fileName={`citation-${id ?? 'evidence'}.json`} />
        </>
      )}
    </div>
  )
}

function Result({ page, queryId }: { page: MatchedPage; queryId: string }) {
  return (
    <li class="sheet result">
      <a
        class="ring-link"
        href={linkTo('sources', [page.domain])}
        aria-label={`CiteScore of ${page.domain}: ${page.cite_score ?? 'none yet'}; open its evidence`}
      >
        <ScoreRing score={page.cite_score} />
      </a>
      <div class="stack tight">
        <h3>
          <bdi>{page.title}</bdi>
        </h3>
        <p class="small soft mono">{page.url}</p>
        {page.snippet === null ? (
          <p class="small soft">No quote: {page.terms.reason}</p>
        ) : (
          <blockquote>
            <bdi>{page.snippet}</bdi>
          </blockquote>
        )}
        <div class="row small">
          <Badge tone="calm">fit {Math.round(page.relevance * 100) / 100}</Badge>
          {page.licence === null ? (
            <Badge tone="warn">no licence stated</Badge>
          ) : (
            <Badge tone="good">{page.licence.name ?? page.licence.url}</Badge>
          )}
          <Synthetic of={page.synthetic} />
          <span class="soft">
            {page.modified_at === null ? null : (
              <>
                changed <Age at={page.modified_at} />,{' '}
              </>
            )}
            read <Age at={page.fetched_at} />
          </span>
        </div>
        <ResultActions page={page} queryId={queryId} />
        <details class="small">
          <summary>Why here, and how to check the quote</summary>
          <dl class="facts">
            {Object.entries(page.parts).map(([name, value]) => [
              <dt key={name}>{name}</dt>,
              <dd key={`${name} value`}>{Math.round(value * 1000) / 1000}</dd>,
            ])}
            <dt>Quote</dt>
            <dd>
              {page.snippet_sha256 === null ? null : <Hex value={page.snippet_sha256} what="hash of the quote" />}
            </dd>
            <dt>Whole text</dt>
            <dd>
              <Hex value={page.text_sha256} what="hash of the text" />
            </dd>
          </dl>
        </details>
      </div>
    </li>
  )
}
