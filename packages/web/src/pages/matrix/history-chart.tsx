import type { MatrixHistory } from '@assay/sdk'
import { useMemo } from 'preact/hooks'
import { sentence } from '../../ui/format.ts'
import { seriesOf } from './series.ts'
import { SeriesChart } from './series-chart.tsx'

export function HistoryChart({ history }: { history: MatrixHistory }) {
  const all = useMemo(() => seriesOf(history).map(described), [history])
  return <SeriesChart title={`Last ${history.days} trading days`} choice="Series" all={all} />
}

const described = (series: ReturnType<typeof seriesOf>[number]) => {
  const { name, values } = series
  const said = `${sentence(name)}: ${values.length} values, the last is ${values.at(-1) ?? 'unknown'}`
  return { ...series, id: name, name: sentence(name), said }
}
