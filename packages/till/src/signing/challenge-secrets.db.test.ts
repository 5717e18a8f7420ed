import { expect, test } from 'vitest'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createMovableClock } from '../testing/movable-clock.ts'
import { openChallengeSecrets } from './challenge-secrets.ts'

const db = await useTestDatabase({ poolSize: 10 })

const hourMs = 3_600_000

test('processes share secrets whose versions overlap for a week', async () => {
  const clock = createMovableClock()
  const open = () => openChallengeSecrets({ database: db.database, clock, rng: systemRng, log: silentLog })
  const first = await Promise.all(Array.from({ length: 10 }, open))
  expect(new Set(first.map((one) => one.current().version))).toEqual(new Set([1]))
  expect(new Set(first.map((one) => one.current().key.export().toString('hex'))).size).toBe(1)
  const [old] = first
  if (!old) throw new Error('nothing was opened')
  expect(await old.of(2)).toBeUndefined()

  clock.advance(25 * hourMs)
  const young = await open()
  expect(young.current().version).toBe(2)
  // What a process made before it heard of the new version is taken by one that makes the new one, and the other way round.
  expect((await young.of(1))?.key.equals(old.current().key)).toBe(true)
  expect((await old.of(2))?.key.equals(young.current().key)).toBe(true)
  await expect.poll(() => old.current().version).toBe(2)

  for (let day = 0; day < 8; day += 1) {
    clock.advance(25 * hourMs)
    await open()
  }
  const last = await open()
  expect(last.current().version).toBe(10)
  expect(await last.of(1)).toBeUndefined()
  expect(await last.of(9)).toBeDefined()
  for (const never of [0, -1, 11, 2 ** 40]) expect(await last.of(never)).toBeUndefined()
})
