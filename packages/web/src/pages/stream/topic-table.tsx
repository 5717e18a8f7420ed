import { count } from '../../ui/format.ts'
import { Heads, Scroll } from '../../ui/parts.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import type { Topic } from './topics.ts'

export const toneOf = (change: number | null) =>
  change === null || change === 0 ? 'soft' : change < 0 ? 'fell' : 'rose'

export function Topics({ topics }: { topics: readonly Topic[] }) {
  const most = Math.max(1, ...topics.map(({ demand }) => demand))
  if (topics.length === 0) return null
  return (
    <Scroll label="Topics by demand">
      <table class="topics">
        <Heads
          titles={['Topic', 'Demand', 'Newest', 'Change', 'Trend', 'Rising']}
          right={['Newest', 'Change']}
          wide={['Trend', 'Rising']}
        />
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
              <td class="right">
                {topic.newest}
                {topic.error === undefined ? null : <span class="soft small"> ± {topic.error}</span>}
              </td>
              <td class={`right ${toneOf(topic.changePct)}`}>
                {topic.changePct === null ? '–' : `${topic.changePct > 0 ? '+' : ''}${count(topic.changePct)} %`}
              </td>
              <td class="hide-narrow">
                <Sparkline values={topic.course} what={`demand for ${topic.name}`} />
              </td>
              <td class="small hide-narrow">{topic.rising.join(', ') || <span class="soft">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
