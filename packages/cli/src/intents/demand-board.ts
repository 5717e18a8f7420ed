import type { IntentTick } from '@assay/sdk'
import { table } from '../output.ts'

const rowsMax = 30
const barWidth = 20

/**
 * The figures of the newest bucket, the most wanted first: a topic of which it says nothing is not shown with old ones.
 * Over a stretch of time, such as the sample, the newest of each topic.
 */
export function createDemandBoard(over: 'bucket' | 'stretch' = 'bucket') {
  const newest = new Map<string, IntentTick>()
  let endsAt = ''
  return {
    add: (tick: IntentTick): void => {
      if (tick.ends_at > endsAt) {
        if (over === 'bucket') newest.clear()
        endsAt = tick.ends_at
      }
      if (tick.ends_at === endsAt) newest.set(tick.cluster.id, tick)
    },
    /** The bucket that ends here is complete: without a tick of it there is nothing to show. */
    close: (at: string): void => {
      if (at <= endsAt) return
      newest.clear()
      endsAt = at
    },
    text: (): string => {
      const rows = [...newest.values()].sort((a, b) => b.demand - a.demand).slice(0, rowsMax)
      if (rows.length === 0) return 'Nothing was published: too few agents searched.'
      const most = Math.max(...rows.map(({ demand }) => demand))
      const board = table(rows, [
        { title: 'id', of: (row) => row.cluster.id },
        { title: 'topic', of: (row) => row.cluster.name },
        { title: 'demand', of: (row) => `${row.demand} ± ${row.error_95.demand}`, right: true },
        { title: 'bonded', of: (row) => String(row.bonded), right: true },
        ...(rows.some(({ peers }) => peers !== undefined)
          ? [{ title: 'peers', of: (row: IntentTick) => String(row.peers?.demand ?? '-'), right: true }]
          : []),
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
