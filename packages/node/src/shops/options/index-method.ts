import type { Sql } from '@assay/till/store/database'
import { type IndexMethod, indexMethod } from './domain/demand-index.ts'
import type { OptionSettings } from './settings.ts'

type Set = Pick<OptionSettings, 'tickMs' | 'halfLifeMs'>

/** The name under which ticks of a method are kept. */
export const methodKey = ({ tickMs, halfLifeMs }: Set): string => `${tickMs}:${halfLifeMs}`

/** What a series goes by: the terms in its name, or those in force where it is older than names. */
export function methodTerms(settings: Set, key: string): Set {
  const [tickMs = 0, halfLifeMs = 0] = key.split(':').map(Number)
  return tickMs > 0 && halfLifeMs > 0 ? { tickMs, halfLifeMs } : settings
}

export const methodNamed = (settings: Set, key: string): IndexMethod => {
  const { tickMs, halfLifeMs } = methodTerms(settings, key)
  return indexMethod(tickMs, halfLifeMs)
}

/** The method in force, and every other one by which a series is still to be settled. */
export async function methodsInUse(sql: Sql, settings: Set): Promise<string[]> {
  const { rows } = await sql.query<{ method: string }>(
    `select distinct method from option_series where state <> 'ended'`,
  )
  return [...new Set([methodKey(settings), ...rows.map(({ method }) => method)])]
}
