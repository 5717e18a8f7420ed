import type { IntentTick } from '@assay/sdk'
import { table } from '../output.ts'

const rowsMax = 30
const barWidth = 20

/** The newest figures of every topic, the most wanted first. */
export function createDemandBoard() {
  const newest = new Map<string, IntentTick>()
  return {
    add: (tick: IntentTick): void => {
      newest.set(tick.cluster.id, tick)
    },
    text: (): string => {
      const rows = [...newest.values()].sort((a, b) => b.demand - a.demand).slice(0, rowsMax)
      if (rows.length === 0) return 'Nothing was published: too few agents searched.'
      const most = Math.max(...rows.map(({ demand }) => demand))
      const board = table(rows, [
        { title: 'id', of: (row) => row.cluster.id },
        { title: 'topic', of: (row) => row.cluster.name },
        { title: 'demand', of: (row) => String(row.demand), right: true },
        { title: 'bonded', of: (row) => (row.bonded === null ? '-' : String(row.bonded)), right: true },
        { title: 'change', of: (row) => changeText(row.trend.change_pct), right: true },
        { title: 'trend', of: (row) => row.trend.ewma.toFixed(1), right: true },
        { title: '', of: (row) => '#'.repeat(Math.max(1, Math.round((barWidth * row.demand) / most))) },
        { title: 'rising', of: (row) => row.rising.map(({ term }) => term).join(' ') },
      ])
      const note = rows.some(({ synthetic }) => synthetic) ? '\nDemo: simulated agents, invented demand.' : ''
      return `${board}${note}`
    },
  }
}

const changeText = (pct: number | null) => (pct === null ? '-' : `${pct > 0 ? '+' : ''}${pct.toFixed(1)} %`)
