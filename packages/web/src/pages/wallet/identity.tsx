import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { sentence } from '../../ui/format.ts'
import { Await, Badge, Hex, Json } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Rating = {
  score: number
  interval?: { low: number; high: number }
  method: string
  components: { id: string; value: number }[]
}
type Resolved = {
  didDocument?: {
    id: string
    alsoKnownAs?: string[]
    capabilities?: unknown[]
    creditRating?: Rating | null
    paymentAuthorizations?: unknown[]
  }
}

/** The wallet as an identifier that others can resolve, with the rating they see. */
export function Identity({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const chain = index.networks[0]?.network ?? 'eip155:8453'
  const did = `did:pkh:${chain}:${wallet.address}`
  const [answer, again] = useAnswer(offers(index, '/v1/did/resolve/{did}') ? did : null, (signal) =>
    ask<Resolved>(`${index.api_url}/v1/did/resolve/${did}`, { signal }),
  )
  if (answer.state === 'idle') return null
  return (
    <section class="sheet" aria-labelledby="identity">
      <header>
        <h2 id="identity">Identity</h2>
        {answer.state === 'done' ? <Signed exchange={answer.value.exchange} /> : null}
      </header>
      <Await of={answer} what="Resolving the identifier" again={again}>
        {({ body }) => {
          const document = body.didDocument
          const name = document?.alsoKnownAs?.[0] ?? did
          return (
            <>
              <Hex value={name} what="identifier" whole />
              {document?.creditRating === undefined || document.creditRating === null ? null : (
                <CreditRating rating={document.creditRating} />
              )}
              <p class="row small">
                <Badge>{document?.capabilities?.length ?? 0} capabilities</Badge>
                <Badge>{document?.paymentAuthorizations?.length ?? 0} payment authorizations</Badge>
              </p>
              <details>
                <summary>Its document</summary>
                <Json value={body} />
              </details>
            </>
          )
        }}
      </Await>
    </section>
  )
}

function CreditRating({ rating }: { rating: Rating }) {
  return (
    <>
      <p class="price">
        {rating.score}
        <small>
          credit rating
          {rating.interval === undefined ? '' : `, between ${rating.interval.low} and ${rating.interval.high}`}
        </small>
      </p>
      <dl class="facts">
        {rating.components.map(({ id, value }) => [
          <dt key={id}>{sentence(id)}</dt>,
          <dd key={`${id} value`}>
            <span class="meter" title={`${Math.round(value * 100)} of 100`}>
              <i style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
              <span class="visually-hidden">{Math.round(value * 100)} of 100</span>
            </span>
          </dd>,
        ])}
      </dl>
    </>
  )
}
