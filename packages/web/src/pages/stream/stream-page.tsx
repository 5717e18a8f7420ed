import type { IntentSample, IntentSignal } from '@assay/sdk'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { count, timeText } from '../../ui/format.ts'
import { Await, Badge, Heads, Notice, PageHead, Scroll, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { LiveStream } from './live-stream.tsx'
import { TopicChart } from './topic-chart.tsx'
import { Topics } from './topic-table.tsx'
import { topicsOf } from './topics.ts'

/** What agents search for, by topic: a day-old hour for nothing, the live stream by subscription. */
export function StreamPage() {
  const index = useNode()
  const path = '/v1/market/intent-stream/sample'
  const [sample, again] = useAnswer(offers(index, path) ? 'sample' : null, (signal) =>
    ask<IntentSample>(`${index.api_url}${path}?limit=500`, { signal }),
  )
  return (
    <>
      <PageHead title="Intent stream">
        <p class="lead">
          How many agents look for what, by topic and time. Never a question and never a wallet: the counts are noisy,
          each with its error, and a topic with too few agents is not shown.
        </p>
      </PageHead>
      <SignalSheet />
      {offers(index, '/v1/market/intent-stream') ? <LiveStream /> : null}
      <Await
        of={sample}
        what="Reading the sample"
        again={again}
        idle={<Notice>The intent stream is not open on this node.</Notice>}
      >
        {({ body, exchange }) => (
          <section class="sheet" aria-labelledby="sample">
            <header>
              <h2 id="sample">One hour, a day old</h2>
              <Synthetic of={body.synthetic} />
              <Signed exchange={exchange} />
            </header>
            <p class="small soft">
              {timeText(body.from_at)} to {timeText(body.to_at)}, exactly as subscribers got it.
            </p>
            {body.note === null ? null : <Notice>{body.note}</Notice>}
            <TopicChart topics={topicsOf(body.data)} />
            <Topics topics={topicsOf(body.data)} />
            <p class="small soft">
              Differential privacy: ε {count(Number(body.privacy.epsilon_bucket))} a bucket,{' '}
              {count(Number(body.privacy.epsilon_daily))} a day; figures below {body.privacy.threshold} are not shown.
            </p>
          </section>
        )}
      </Await>
    </>
  )
}

const qualities = ['Agents a day', 'Bucket', 'Tiers', 'Topics shown', '95 % error']
const percentText = (value: number | null) => (value === null ? '–' : `${value} %`)

/** Whether the stream is worth its price: the same figures by which the node decides to sell it. */
function SignalSheet() {
  const index = useNode()
  const path = '/v1/market/intent-stream/signal'
  const [signal, again] = useAnswer(offers(index, path) ? 'signal' : null, (signal) =>
    ask<IntentSignal>(`${index.api_url}${path}`, { signal }),
  )
  return (
    <Await of={signal} what="Reading the signal" again={again} idle={null}>
      {({ body }) => (
        <section class="sheet" aria-labelledby="signal">
          <header>
            <h2 id="signal">Signal</h2>
            <Badge tone={body.sold ? 'good' : 'warn'}>{body.sold ? 'for sale' : 'not for sale'}</Badge>
          </header>
          <p>
            {body.last_day === null || body.last_day.figures === 0
              ? 'Nothing was published in the last day.'
              : `${count(body.last_day.figures)} figures in the last day, 95 % error ${percentText(body.last_day.error_pct)} of demand; at most ${body.promised_error_pct} % is promised.`}{' '}
            {body.reason}
          </p>
          <details>
            <summary>Signal by traffic, simulated with the settings of this node</summary>
            <Scroll label="Signal by traffic">
              <table>
                <Heads titles={[...qualities, 'Sold']} right={qualities} />
                <tbody>
                  {body.simulated.map((row) => (
                    <tr key={row.agents_daily}>
                      <th scope="row" class="right">
                        {count(row.agents_daily)}
                      </th>
                      <td class="right">{row.bucket_seconds} s</td>
                      <td class="right">{row.tiers}</td>
                      <td class="right">{row.figures}</td>
                      <td class="right">{percentText(row.error_pct)}</td>
                      <td>{row.sold ? 'yes' : 'no'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          </details>
        </section>
      )}
    </Await>
  )
}
