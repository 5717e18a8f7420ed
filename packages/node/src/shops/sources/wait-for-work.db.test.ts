import { createScheduler } from '@assay/till/jobs'
import { expect, test } from 'vitest'
import { registerSource } from './register/register-source.ts'
import { openSourceJobs } from './source-jobs.ts'
import { useSourceWorld } from './sources.fixture.ts'
import { crawlWantedChannel, watchForWork } from './wait-for-work.ts'

const world = await useSourceWorld()

const wallet = '0x1111111111111111111111111111111111111111'
const long = 600_000

test('a waiter is woken by work, also by work that came before it waited, by an end, and by the close of the shop', async () => {
  const stopping = new AbortController()
  const watch = await watchForWork(world.deps, crawlWantedChannel, stopping.signal)
  const first = watch.wait(long)
  await registerSource(world.deps, { domain: 'waking.com', wallet })
  await first
  await watch.wait(1)
  await world.db.database.query(`select pg_notify('${crawlWantedChannel}', '')`)
  await watch.wait(long)
  await watch.wait(long, [Promise.resolve()])
  const last = watch.wait(long)
  stopping.abort(new Error('closing'))
  await last
  await watch.wait(long)
  await watch.stop()
})

test('a source that registers is crawled and scored by sleeping jobs, which end when the shop does', async () => {
  const page = `<html><head><title>Home</title></head><body><p>${'Words about short interest. '.repeat(30)}</p></body></html>`
  world.web.set('https://sleepy.com/', page)
  const stopping = new AbortController()
  const { jobs, stop } = await openSourceJobs(world.deps, stopping.signal)
  const scheduler = createScheduler({ clock: world.deps.clock, log: world.deps.log })
  const named = /^citations\.(?:crawl|score)/
  for (const { name, intervalMs, work } of jobs.filter((job) => named.test(job.name)))
    scheduler.every(name, intervalMs, async () => void (await work()))
  await registerSource(world.deps, { domain: 'sleepy.com', wallet })
  const read = async () =>
    (
      await world.db.database.query<{ pages: number; scored: boolean }>(
        `select count(p.facts)::int as pages, bool_or(s.score_wanted_at is null and s.scored_at is not null) as scored
         from source s left join crawl_page p using (domain) where s.domain = 'sleepy.com'`,
      )
    ).rows[0]
  await expect.poll(read, { timeout: 30_000 }).toEqual({ pages: 1, scored: true })
  stopping.abort(new Error('closing'))
  await stop()
  await scheduler.stop()
})
