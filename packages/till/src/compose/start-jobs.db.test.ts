import { expect, test } from 'vitest'
import { registerOwner } from '../gate/owner.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { startJobs } from './jobs.ts'
import type { Stops, TillJob } from './parts.ts'

const { database, owner: login } = await useTestDatabase()

test('a job without work sleeps until a message, or until its state is another', async () => {
  await login.query('create table work_of_test (id integer); grant all on work_of_test to public')
  const owner = await registerOwner(database, systemClock, systemRng)
  const stops: Stops = []
  const runs: string[] = []
  const job = (name: string, given: Partial<TillJob>): TillJob => ({
    name,
    intervalMs: 1,
    idleMs: 3_600_000,
    work: async () => void runs.push(name),
    ...given,
  })
  const count = (name: string) => runs.filter((one) => one === name).length
  startJobs(
    {
      ports: { clock: systemClock, log: silentLog, rng: systemRng },
      infrastructure: { store: { database } },
      owner,
    } as never,
    [
      job('called', { due: 'false', channel: 'called_by_test' }),
      job('changed', { due: '(select count(*) from work_of_test)' }),
      // Tells that the states were read since.
      job('clock', { due: '$1' }),
    ],
    stops,
  )
  const settled = async () => {
    const before = count('clock')
    await expect.poll(() => count('clock'), { timeout: 30_000 }).toBeGreaterThan(before + 2)
  }
  await settled()
  const [called, changed] = [count('called'), count('changed')]
  await settled()
  expect([count('called'), count('changed')]).toEqual([called, changed])
  await database.query(`select pg_notify('called_by_test', '')`)
  await expect.poll(() => count('called'), { timeout: 30_000 }).toBe(called + 1)
  await database.query('insert into work_of_test values (1)')
  await expect.poll(() => count('changed'), { timeout: 30_000 }).toBe(changed + 1)
  await settled()
  expect([count('called'), count('changed')]).toEqual([called + 1, changed + 1])
  for (const stop of stops.reverse()) await stop()
  await owner.release()
})
