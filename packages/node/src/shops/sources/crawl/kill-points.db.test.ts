import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { joinProgram } from '@assay/till/kernel/join-program.fixture'
import type { Sql, Tx } from '@assay/till/store/database'
import { openTestDatabase } from '@assay/till/store/testing'
import { expect, test } from 'vitest'
import type { SourceDeps } from '../deps.ts'
import { registerSource } from '../register/register-source.ts'
import { openSourceWorld } from '../sources.fixture.ts'
import { loopbackDeps } from './crawl-process.fixture.ts'
import { runCrawler } from './run-crawler.ts'

const wallet = '0x1111111111111111111111111111111111111111' as const
const words = 'Running text about how short interest is collected and published. '.repeat(10)
const pageOf = (title: string, links: readonly string[] = []) =>
  `<html><head><title>${title}</title></head><body><p>${title}. ${words}</p>${links.map((url) => `<a href="${url}">x</a>`).join('')}</body></html>`

/** From its k-th call to the outside on, nothing answers any more: what is left is what the database has. */
function dyingAt(deps: SourceDeps, k: number): { deps: SourceDeps; calls(): number } {
  let calls = 0
  const live = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    if (calls >= k) throw new Error('killed')
    const result = await work()
    if (calls >= k) throw new Error('killed')
    return result
  }
  const wrap = (sql: Sql): Sql => ({ query: (statement, values) => live(() => sql.query(statement, values)) })
  const { database, outbound } = deps
  return {
    calls: () => calls,
    deps: {
      ...deps,
      database: {
        ...database,
        ...wrap(database),
        transaction: (work) => database.transaction((tx) => work({ ...wrap(tx), transaction: true } as Tx)),
      },
      outbound: { fetch: (url, request) => live(() => outbound.fetch(url, request)) },
    },
  }
}

test('killed at any call, the crawl is finished by the next worker: no page lost, none read twice but those not yet stored', async () => {
  const world = await openSourceWorld()
  try {
    const urls = Array.from({ length: 14 }, (_, n) => `/a${n}`)
    const start = async (domain: string) => {
      world.web.set(`https://${domain}/`, pageOf('Home', urls))
      for (const path of urls) world.web.set(`https://${domain}${path}`, pageOf(path))
      await registerSource(world.deps, { domain, wallet })
    }
    await start('whole.com')
    const whole = dyingAt(world.deps, Number.POSITIVE_INFINITY)
    await runCrawler(whole.deps, { forMs: 20_000 })
    const callsInAll = whole.calls()
    expect(callsInAll).toBeGreaterThan(30)
    for (let k = 1; k <= callsInAll; k += 1) {
      const domain = `killed-${k}.com`
      await start(domain)
      await runCrawler(dyingAt(world.deps, k).deps, { forMs: 20_000 }).catch(() => {})
      world.advance(2 * 60_000)
      await runCrawler(world.deps, { forMs: 20_000 })
      const { rows } = await world.db.database.query<{ read: bigint; finished: boolean }>(
        `select (select count(*) from crawl_page p where p.domain = h.domain and p.facts is not null) as read,
           finished_at >= started_at and leased_until is null as finished from crawl_host h where domain = $1`,
        [domain],
      )
      expect(rows, `killed at call ${k}`).toEqual([{ read: 15n, finished: true }])
      const pages = world.requests.filter(({ url }) => url.startsWith(`https://${domain}/`)).map(({ url }) => url)
      const visits = pages.filter((url) => /\/(?:a\d+)?$/.test(url))
      expect(visits.length, `killed at call ${k}`).toBeLessThanOrEqual(15 + 10)
    }
  } finally {
    await world.close()
  }
}, 120_000)

test('a process that is killed with SIGKILL loses its lease, and another one goes on with what it had stored', async () => {
  const db = await openTestDatabase()
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    seen.push(path)
    const links = Array.from({ length: 40 }, (_, n) => `/p${n}`)
    setTimeout(() => {
      const known = path === '/' || links.includes(path)
      response.writeHead(known ? 200 : 404, { 'content-type': 'text/html' })
      response.end(known ? pageOf(path, path === '/' ? links : []) : '')
    }, 15)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const deps = loopbackDeps(db.databaseUrl, port, ['site.test'])
  try {
    await registerSource(deps, { domain: 'site.test', wallet })
    const program = await joinProgram(fileURLToPath(new URL('./crawl-process.fixture.ts', import.meta.url)))
    const child = spawn(process.execPath, [program, db.databaseUrl, String(port), 'site.test'], {
      stdio: 'ignore',
    })
    const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    const pagesSeen = () => seen.filter((path) => path.startsWith('/p')).length
    await expect.poll(pagesSeen, { timeout: 60_000, interval: 10 }).toBeGreaterThanOrEqual(25)
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    const before = seen.length
    // The lease of the dead process still runs.
    expect(await runCrawler(deps, { forMs: 10_000 })).toEqual({ hosts: 0, pages: 0 })
    await db.database.query('update crawl_host set leased_until = $1', [new Date(Date.now() - 1)])
    const run = await runCrawler(deps, { forMs: 10_000 })
    expect(run.pages).toBeLessThanOrEqual(41 - 20)
    expect(seen.slice(before)).not.toContain('/robots.txt')
    const { rows } = await db.database.query<{ read: bigint }>(
      'select count(*) as read from crawl_page where facts is not null',
    )
    expect(rows).toEqual([{ read: 41n }])
  } finally {
    await deps.database.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await db.close()
  }
})
