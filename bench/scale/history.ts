import {
  addHistory,
  countReads,
  grownReads,
  openBooks,
} from '../../packages/till/src/recovery/growing-reads.fixture.ts'
import { openTestDatabase, startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import type { Verdict } from './verdict.ts'

/** Rows of one statement: what it needs in memory stays small. */
const chunk = 20_000

/** What jobs and routes read from a database with a short past and with a long one, in blocks. */
export async function readWithHistory(sizes: readonly number[], say: (text: string) => void): Promise<Verdict> {
  const server = await startTestServer()
  process.env[testServerVariable] = server.url
  const db = await openTestDatabase({ poolSize: 1 })
  try {
    await openBooks(db)
    const counted: Record<string, number>[] = []
    let filled = 0
    for (const size of sizes) {
      while (filled < size) {
        const count = Math.min(chunk, size - filled)
        await addHistory(db, filled + 1, count)
        filled += count
      }
      counted.push(await countReads(db))
      const { rows } = await db.owner.query<{ mb: number }>(
        'select (pg_database_size(current_database()) / 1e6)::float8 as mb',
      )
      say(`  ${size.toLocaleString('en-US')} payments, ${Math.round(rows[0]?.mb ?? 0)} MB`)
    }
    const [small = {}, large = {}] = [counted[0], counted.at(-1)]
    return {
      name: `what is read with ${sizes.map((size) => size.toLocaleString('en-US')).join(' and ')} payments`,
      asked: 'no more than twice as many blocks',
      measured: `${Object.keys(large).length} reads of jobs and routes`,
      faults: grownReads(small, large),
      notes: Object.keys(large).map((name) => `${name}: ${small[name]} and ${large[name]} blocks`),
    }
  } finally {
    await db.close()
    await server.stop()
  }
}
