import type { MatrixHistory } from '@assay/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { sentence } from '../../ui/format.ts'
import { seriesOf } from './series.ts'

/** One series at a time over its dates; the drawing library loads with the first of them. */
export function HistoryChart({ history }: { history: MatrixHistory }) {
  const all = useMemo(() => seriesOf(history), [history])
  const [name, setName] = useState(all[0]?.name ?? '')
  const series = all.find((known) => known.name === name)
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
        <h3>Last {history.days} trading days</h3>
        <select
          class="series-select"
          aria-label="Series"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        >
          {all.map((known) => (
            <option key={known.name} value={known.name}>
              {sentence(known.name)}
            </option>
          ))}
        </select>
      </figcaption>
      <div
        ref={box}
        class="chart"
        role="img"
        aria-label={`${sentence(series.name)}: ${series.values.length} values, the last is ${series.values.at(-1) ?? 'unknown'}`}
      />
    </figure>
  )
}
