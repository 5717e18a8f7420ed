import type { OptionDeps } from './deps.ts'

/** Figures and ticks that no open series needs and whose time of replay is over. What was settled keeps its document. */
export async function deleteOld({ database, clock, settings }: OptionDeps): Promise<void> {
  const before = new Date(clock.nowMs() - settings.keepMs)
  for (const [table, column] of [
    ['option_input', 'ends_at'],
    ['option_tick', 'at'],
    ['option_tick_proof', 'at'],
  ])
    await database.query(
      `delete from ${table} where ${column} < $1
       and ${column} < coalesce((select min(listed_at) from option_series where state <> 'ended'), $1)`,
      [before],
    )
}
