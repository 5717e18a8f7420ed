import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { openJournal } from './spending-journal.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-journal-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const dayMs = 86_400_000
let nowMs = 10 * dayMs
const clock: Clock = { ...systemClock, nowMs: () => nowMs }
const reopen = () => openJournal(join(folder, 'journal.jsonl'), clock)

test('what was spent stays spent when the journal is opened again, and comes back after a day', async () => {
  const first = await reopen()
  expect(await first.spend('a', 'one', 60n, 100n)).toBe(true)
  expect(await first.spend('b', 'one', 100n, 100n)).toBe(true)
  await first.close()
  // The process died while it wrote.
  await appendFile(join(folder, 'journal.jsonl'), '{"at":1,"key":"a","dig')
  const second = await reopen()
  expect(await second.spend('a', 'two', 41n, 100n)).toBe(false)
  expect(await second.spend('a', 'one', 60n, 100n)).toBe(true)
  expect(await Promise.all(['three', 'four'].map((digest) => second.spend('a', digest, 40n, 100n)))).toEqual([
    true,
    false,
  ])
  nowMs += dayMs
  expect(await second.spend('a', 'five', 100n, 100n)).toBe(true)
  await second.close()
})
