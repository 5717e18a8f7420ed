import { useMemo } from 'preact/hooks'
import { SeriesChart } from '../matrix/series-chart.tsx'
import type { Topic } from './topics.ts'

/** The demand of one topic over time; one figure makes no line. */
export function TopicChart({ topics }: { topics: readonly Topic[] }) {
  const all = useMemo(
    () =>
      topics
        .filter(({ course }) => course.length > 1)
        .map(({ id, name, times, course }) => ({
          ...{ id, name, times, values: course },
          said: `Demand for ${name}: ${course.length} buckets, the last is ${course.at(-1)}`,
        })),
    [topics],
  )
  return <SeriesChart title="Agents that searched, by bucket" choice="Topic of the chart" all={all} />
}
