import type { AnswerOf } from '@assay/sdk'
import { linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Badge, CopyText, Hex, Json, Money, saveFile } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { VerifiedReport } from '../verify/verified-report.tsx'

type Attestation = AnswerOf<'attestations.show'>

const pathOf = (id: string) => (id.startsWith('roy_') ? `/v1/royalties/${id}` : `/v1/attestations/${id}`)

/** One attestation, with its verification made here. */
export function AttestationView({ id }: { id: string }) {
  const index = useNode()
  const [found, again] = useAnswer(id, (signal) =>
    ask<Attestation>(`${index.api_url}${pathOf(encodeURIComponent(id))}`, { signal }),
  )
  return (
    <Await of={found} what="Reading the attestation" again={again}>
      {({ body, exchange }) => (
        <>
          <section class="sheet" aria-labelledby="attested">
            <header>
              <h2 id="attested">
                <bdi>{String(body.record.source_url ?? body.record.type)}</bdi>
              </h2>
              <Signed exchange={exchange} />
            </header>
            <dl class="facts">
              <dt>Id</dt>
              <dd>
                <Hex value={body.id} what="id" whole />
              </dd>
              <dt>Agent</dt>
              <dd>
                <Hex value={body.record.agent_wallet} what="agent" />
              </dd>
              <dt>Signed by</dt>
              <dd>
                <Hex value={body.attestation.signer} what="signer" />
              </dd>
              <dt>Price</dt>
              <dd>
                <Money micro={body.split.price_micro} />, of which <Money micro={body.split.creator_micro} /> for the
                creator
              </dd>
              {body.payouts.map(({ domain, micro, state }) => [
                <dt key={domain}>
                  <a href={linkTo('sources', [domain])}>{domain}</a>
                </dt>,
                <dd key={`${domain} payout`}>
                  <Money micro={micro} /> <Badge>{state}</Badge>
                </dd>,
              ])}
            </dl>
            <div class="row">
              <CopyText text={location.href} what="Copy the link" />
              <button
                type="button"
                class="button small"
                onClick={() => saveFile(`${body.id}.json`, JSON.stringify(body, null, 2))}
              >
                Save for assay verify
              </button>
            </div>
          </section>
          <Verification body={body} />
          <details class="sheet">
            <summary>The record as it was signed</summary>
            <Json value={body.record} wrap />
          </details>
        </>
      )}
    </Await>
  )
}

function Verification({ body }: { body: Attestation }) {
  const index = useNode()
  const [verified] = useAnswer(body.id, async () => {
    const { verifyText } = await import('../verify/verify-text.ts')
    return verifyText(JSON.stringify(body), { online: true, node: index.api_url })
  })
  return (
    <Await of={verified} what="Verifying">
      {(value) => <VerifiedReport verified={value} />}
    </Await>
  )
}
