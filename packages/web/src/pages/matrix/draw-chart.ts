import uPlot from 'uplot'
import { onTheme } from '../../app/theme-choice.ts'
import { utcDate, utcStamps } from './chart-times.ts'
import type { Series } from './series.ts'

/** Returns a function that removes the drawing. */
export function drawChart(host: HTMLElement, { name, times, values }: Series): () => void {
  // Asked for with every drawing: another theme has other colours.
  const colour = (token: string) => () => getComputedStyle(host).getPropertyValue(token).trim()
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  }
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: 200,
      tzDate: utcDate,
      legend: { show: false },
      cursor: { y: false },
      axes: [
        { ...axis, values: utcStamps },
        { ...axis, size: 60 },
      ],
      series: [{}, { label: name, stroke: colour('--accent'), width: 1.6, points: { show: values.length < 15 } }],
    },
    [times, values],
    host,
  )
  const watch = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: 200 }))
  watch.observe(host)
  const stopHearing = onTheme(() => plot.redraw(false))
  return () => {
    stopHearing()
    watch.disconnect()
    plot.destroy()
  }
}
