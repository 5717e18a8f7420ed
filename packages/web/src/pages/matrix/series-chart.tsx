import { useEffect, useRef, useState } from 'preact/hooks'
import type { Series } from './series.ts'

/** `said` is what the drawing shows, in words. */
export type NamedSeries = Series & { id: string; said: string }

/** One series at a time over its dates, with both axes; the drawing library loads with the first of them. */
export function SeriesChart(props: { title: string; choice: string; all: readonly NamedSeries[] }) {
  const { title, choice, all } = props
  const [chosen, setChosen] = useState<string>()
  const series = all.find(({ id }) => id === chosen) ?? all[0]
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = box.current
    if (host === null || series === undefined) return
    let stop = () => {}
    let stale = false
    import('./draw-chart.ts').then(({ drawChart }) => {
      if (!stale) stop = drawChart(host, series)
    })
    return () => {
      stale = true
      stop()
    }
  }, [series])
  if (series === undefined) return null
  return (
    <figure class="stack tight">
      <figcaption class="row apart">
        <h3>{title}</h3>
        <select
          class="series-select"
          aria-label={choice}
          value={series.id}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {all.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </figcaption>
      <div ref={box} class="chart" role="img" aria-label={series.said} />
    </figure>
  )
}
