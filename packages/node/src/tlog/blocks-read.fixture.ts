import type { Database, Sql } from '@assay/till/store/database'

/** Blocks that a piece of work touches, by the plans of its selects: no clock, no other process, no cache. */
export async function blocksRead(database: Database, work: (database: Database) => Promise<unknown>): Promise<number> {
  let blocks = 0
  const watch = <Kind extends Sql>(sql: Kind): Kind => ({
    ...sql,
    query: (async (given: string | { text: string; values?: unknown[] }, values: unknown[] = []) => {
      const [text, bound] = typeof given === 'string' ? [given, values] : [given.text, given.values ?? []]
      if (/^\s*(?:select|with)/i.test(text)) {
        const { rows } = await sql.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
          `explain (analyze, buffers, timing off, format json) ${text}`,
          bound,
        )
        const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
        blocks += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
      }
      return sql.query(text, bound)
    }) as Sql['query'],
  })
  await work({ ...watch(database), transaction: (run) => database.transaction((tx) => run(watch(tx))) })
  return blocks
}
