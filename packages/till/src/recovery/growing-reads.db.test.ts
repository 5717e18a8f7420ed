import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { addHistory, countReads, grownReads, openBooks } from './growing-reads.fixture.ts'

// One connection, so that what it read is known.
const db = await useTestDatabase({ poolSize: 1 })

// `npm run scale -- history` does the same with millions.
test('what is read does not grow with the past', async () => {
  // Statements are planned for their values, as on the server of a node.
  await db.owner.query(
    `do $$ begin execute format('alter database %I set plan_cache_mode = auto', current_database()); end $$`,
  )
  await openBooks(db)
  await addHistory(db, 1, 250)
  const small = await countReads(db)
  await addHistory(db, 251, 4_000)
  expect(grownReads(small, await countReads(db))).toEqual([])
})
