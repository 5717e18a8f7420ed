import { useEffect, useRef, useState } from 'preact/hooks'
import type { Topic } from './topics.ts'

/** The demand of one topic over time, with both axes; the drawing library loads with the first chart. */
export function TopicChart({ topics }: { topics: readonly Topic[] }) {
  const [chosen, setChosen] = useState<string>()
  const topic = topics.find(({ id }) => id === chosen) ?? topics[0]
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = box.current
    if (host === null || topic === undefined || topic.course.length < 2) return
    let stop = () => {}
    let stale = false
    import('../matrix/draw-chart.ts').then(({ drawChart }) => {
      if (!stale) stop = drawChart(host, { name: topic.name, times: topic.times, values: topic.course })
    })
    return () => {
      stale = true
      stop()
    }
  }, [topic])
  if (topic === undefined || topic.course.length < 2) return null
  return (
    <figure class="stack tight">
      <figcaption class="row apart">
        <h3>Agents that searched, by bucket</h3>
        <select
          class="series-select"
          aria-label="Topic of the chart"
          value={topic.id}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {topics.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </figcaption>
      <div
        ref={box}
        class="chart"
        role="img"
        aria-label={`Demand for ${topic.name}: ${topic.course.length} buckets, the last is ${topic.course.at(-1)}`}
      />
    </figure>
  )
}
