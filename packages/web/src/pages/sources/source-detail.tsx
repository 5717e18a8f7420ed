import type { Source } from '@assay/sdk'
import { linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { count, sentence, usdOfMicro } from '../../ui/format.ts'
import { Age, Await, Badge, Heads, Hex, PageHead, Scroll, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { ScoreRing } from './score-ring.tsx'
import { stateTone } from './source-state.ts'
import { Steps } from './steps.tsx'
import { TermsPanel } from './terms-panel.tsx'

export function SourceDetail({ domain }: { domain: string }) {
  const index = useNode()
  const [source, again] = useAnswer(domain, (signal) =>
    ask<Source>(`${index.api_url}/v1/sources/${encodeURIComponent(domain)}`, { signal }),
  )
  return (
    <>
      <PageHead title={domain}>
        <p>
          <a href={linkTo('sources')}>All sources</a>
        </p>
      </PageHead>
      <Await of={source} what="Reading the source" again={again}>
        {({ body, exchange }) => (
          <div class="stack wide-gap">
            <section class="sheet source-head" aria-label="Status">
              <ScoreRing score={body.cite_score} large />
              <div class="stack tight">
                <p class="row">
                  <Badge tone={stateTone(body.state)}>{body.state}</Badge>
                  <Synthetic of={body.synthetic} />
                  <Signed exchange={exchange} />
                </p>
                <p>{body.state_reason}</p>
                <dl class="facts">
                  <dt>Pages</dt>
                  <dd>
                    {count(body.crawl.pages_indexed)} of {count(body.crawl.pages_known)} indexed{' '}
                    {body.crawl.problem === null ? null : <Badge tone="warn">{body.crawl.problem}</Badge>}
                  </dd>
                  <dt>Licence</dt>
                  <dd>{body.licence?.name ?? body.licence?.url ?? 'none stated'}</dd>
                  <dt>Paid to</dt>
                  <dd>{body.payout.wallet === null ? 'nobody yet' : <Hex value={body.payout.wallet} />}</dd>
                  <dt>Cited</dt>
                  <dd>
                    {count(body.earnings.citations)} times, {usdOfMicro(body.earnings.earned_micro)} earned
                  </dd>
                </dl>
              </div>
            </section>
            {body.score === null ? null : <Score score={body.score} />}
            <TermsPanel source={body} />
            <Steps source={body} />
          </div>
        )}
      </Await>
    </>
  )
}

function Score({ score }: { score: NonNullable<Source['score']> }) {
  return (
    <section class="sheet" aria-labelledby="score">
      <header>
        <h2 id="score">What the score is made of</h2>
        <span class="soft small">
          {score.model_version}, <Age at={score.computed_at} />, {Math.round(score.confidence * 100)} % of it known
        </span>
      </header>
      <Scroll label="Parts of the score">
        <table class="score-parts">
          <Heads titles={['Part', 'Value', 'Weight', 'Known', 'Evidence']} right={['Weight', 'Known']} />
          <tbody>
            {score.components.map((part) => (
              <tr key={part.id}>
                <th scope="row">{sentence(part.id)}</th>
                <td>
                  <span class="meter" title={`${Math.round(part.value * 100)} of 100`}>
                    <i style={{ width: `${part.value * 100}%` }} />
                    <span class="visually-hidden">{Math.round(part.value * 100)} of 100</span>
                  </span>
                </td>
                <td class="right">{Math.round(part.weight * 100)} %</td>
                <td class="right">{Math.round(part.known * 100)} %</td>
                <td class="small">
                  <Evidence evidence={part.evidence} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {score.gate.value < 1 ? (
        <p class="notice warn">
          Held down to {Math.round(score.gate.value * 100)} %: {score.gate.reason}
        </p>
      ) : null}
      <h3>What would raise it</h3>
      <ul class="advice">
        {score.advice.slice(0, 6).map((advice) => (
          <li key={`${advice.component} ${advice.signal}`}>
            <b>+{advice.points}</b> {advice.advice}
          </li>
        ))}
      </ul>
    </section>
  )
}

const evidenceShown = 3

function Evidence({ evidence }: { evidence: NonNullable<Source['score']>['components'][number]['evidence'] }) {
  if (evidence.length === 0) return <span class="soft">none yet: the usual value of a new source counts</span>
  return (
    <ul class="parties">
      {evidence.slice(0, evidenceShown).map((item) => (
        <li key={`${item.what} ${item.url}`}>
          {item.what} <span class="soft mono">{item.url}</span>
        </li>
      ))}
      {evidence.length > evidenceShown ? (
        <li class="soft">and {evidence.length - evidenceShown} more in the answer itself</li>
      ) : null}
    </ul>
  )
}
