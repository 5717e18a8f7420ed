import type { IntentSample } from '@assay/sdk'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { timeText } from '../../ui/format.ts'
import { Await, Notice, PageHead, Scroll, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { LiveStream } from './live-stream.tsx'
import { type Topic, topicsOf } from './topics.ts'

type Sample = IntentSample & { privacy?: { k: number; mechanism: string; epsilon_bucket: string } }

/** What agents search for, by topic: a day-old hour for nothing, the live stream by subscription. */
export function StreamPage() {
  const index = useNode()
  const path = '/v1/market/intent-stream/sample'
  const [sample, again] = useAnswer(offers(index, path) ? 'sample' : null, (signal) =>
    ask<Sample>(`${index.api_url}${path}?limit=500`, { signal }),
  )
  return (
    <>
      <PageHead title="Intent stream">
        <p class="lead">
          How many agents look for what, by topic, a few minutes at a time. Never a question and never a wallet: the
          counts are noisy, and a topic with too few agents is not shown.
        </p>
      </PageHead>
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
            <Topics topics={topicsOf(body.data)} />
            {body.privacy === undefined ? null : (
              <p class="small soft">
                At least {body.privacy.k} agents a topic; {body.privacy.mechanism}, ε {body.privacy.epsilon_bucket} a
                bucket.
              </p>
            )}
          </section>
        )}
      </Await>
    </>
  )
}

export function Topics({ topics }: { topics: readonly Topic[] }) {
  const most = Math.max(1, ...topics.map(({ demand }) => demand))
  if (topics.length === 0) return null
  return (
    <Scroll label="Topics by demand">
      <table class="topics">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col">Demand</th>
            <th scope="col" class="right">
              Newest
            </th>
            <th scope="col" class="right">
              Change
            </th>
            <th scope="col">Course</th>
            <th scope="col">Rising</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <tr key={topic.id}>
              <th scope="row">{topic.name}</th>
              <td>
                <span class="meter wide" title={`${topic.demand} in the hour`}>
                  <i style={{ width: `${(topic.demand / most) * 100}%` }} />
                  <span class="visually-hidden">{topic.demand} in all</span>
                </span>
              </td>
              <td class="right">{topic.newest}</td>
              <td class={topic.changePct !== null && topic.changePct < 0 ? 'right fell' : 'right rose'}>
                {topic.changePct === null ? '–' : `${topic.changePct > 0 ? '+' : ''}${topic.changePct} %`}
              </td>
              <td>
                <Sparkline values={topic.course} what={`demand for ${topic.name}`} />
              </td>
              <td class="small">{topic.rising.join(', ') || <span class="soft">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
