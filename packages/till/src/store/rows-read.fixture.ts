import type { Database } from './database.ts'

type Plan = { 'Actual Rows': number; 'Rows Removed by Filter'?: number; 'Actual Loops': number; Plans?: Plan[] }

/** Rows that the statements of a piece of work go through, by their plans; those that a condition leaves out too. */
export async function rowsRead(real: Database, work: (database: Database) => Promise<unknown>): Promise<number> {
  const count = (plan: Plan): number =>
    (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
    (plan.Plans ?? []).reduce((sum, part) => sum + count(part), 0)
  let read = 0
  const query = async (given: string | { text: string; values?: unknown[] }, list: unknown[] = []) => {
    const { text, values = list } = typeof given === 'string' ? { text: given } : given
    const { rows } = await real.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, timing off, format json) ${text}`,
      values,
    )
    read += count(rows[0]?.['QUERY PLAN'][0]?.Plan as Plan)
    return real.query(text, values)
  }
  await work({ ...real, query: query as Database['query'] })
  return read
}
