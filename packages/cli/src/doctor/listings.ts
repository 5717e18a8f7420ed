import type { Config } from '@assay/node'
import type { Node } from '../load-node.ts'
import { type Check, ok, warn } from './check.ts'
import { checkByDatabase } from './data-folder.ts'

/** A Bazaar drops what was not settled for so long. */
const listingTtlDays = 30
const warnedDaysBefore = 7
const lookbackDays = 90

const dayMs = 86_400_000

/** Whether what was sold before is about to leave the directory of the facilitator, which lists by settlements. */
export async function checkListings(node: Node, config: Config, nowMs: number): Promise<Check[]> {
  if (config.facilitators.every(({ kind }) => kind === 'local')) return []
  return checkByDatabase(node, config, async (client) => {
    const { rows } = await client.query<{ route_id: string; settled_at: Date }>(
      `select route_id, max(settled_at) as settled_at from payment
       where ended_at > $1 and settled_at is not null group by route_id order by route_id`,
      [new Date(nowMs - lookbackDays * dayMs)],
    )
    return listingChecks(rows, nowMs)
  })
}

export function listingChecks(rows: readonly { route_id: string; settled_at: Date }[], nowMs: number): Check[] {
  const name = 'bazaar listing'
  const fix = 'buy it once through the facilitator, for example with `assay buy`: a settlement renews the listing'
  const late = rows.flatMap(({ route_id, settled_at }) => {
    const days = Math.floor((nowMs - settled_at.getTime()) / dayMs)
    if (days < listingTtlDays - warnedDaysBefore) return []
    const left = listingTtlDays - days
    const when = left > 0 ? `is dropped in ${left} ${left === 1 ? 'day' : 'days'}` : 'is no longer listed'
    return [warn(name, `${route_id} was last settled ${days} days ago and ${when}`, fix)]
  })
  if (late.length > 0) return late
  const routes = `${rows.length} ${rows.length === 1 ? 'route' : 'routes'}`
  return [
    rows.length === 0
      ? warn(name, `nothing was settled in ${lookbackDays} days, so nothing is listed`, fix)
      : ok(name, `${routes} settled within ${listingTtlDays - warnedDaysBefore} days`),
  ]
}
