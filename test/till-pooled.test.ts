import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openBouncer } from '../bench/scale/pgbouncer.ts'
import { sold } from '../packages/till/src/adapters/next.ts'
import { createTill, type Till } from '../packages/till/src/index.ts'
import { openTestDatabase, type TestDatabase } from '../packages/till/src/store/testing.ts'
import { type TestTill, testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { until } from './harness/until.ts'

const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0

/** As functions of a serverless platform: a transaction pooler is all they see of the database, and a cron runs the jobs. */
describe.skipIf(!hasPgBouncer)('instances behind a transaction pooler', () => {
  let db: TestDatabase
  let kit: TestTill
  let home: string
  const stops: (() => Promise<void>)[] = []
  const instances: { till: Till; send(request: Request): Promise<Response> }[] = []
  let release: () => void = () => {}
  let begun = 0

  const open = async (databaseUrl: string) => {
    const till = await createTill({
      ...kit.options,
      ...{ database: databaseUrl, databasePooled: true, jobs: 'cron' },
      limits: { prepareSeconds: 10, settleSeconds: 5, platformSeconds: 30 },
    })
    const route = till.sell(
      { id: 'weather.now', path: '/weather/:city', price: '0.01', params: z.object({ city: z.string() }) },
      async ({ params }) => {
        begun += 1
        if (params.city === 'frozen')
          await new Promise<void>((resolve) => {
            release = resolve
          })
        return { city: params.city }
      },
    )
    const handler = sold(route)
    const send = async (request: Request) => {
      const city = new URL(request.url).pathname.split('/')[2] ?? ''
      return handler(request, { params: Promise.resolve({ city }) })
    }
    instances.push({ till, send })
  }

  beforeAll(async () => {
    db = await openTestDatabase()
    kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
    home = await mkdtemp(join(tmpdir(), 'till-pooled-'))
    await chmod(home, 0o755)
    const other = await openTestDatabase()
    stops.push(() => other.close())
    const bouncer = await openBouncer(
      {
        databaseUrl: other.databaseUrl,
        owner: other.owner,
        home,
        adopt: (stop) => stops.push(async () => void (await stop())),
      },
      false,
      () => {},
    )
    stores.push(other)
    for (let instance = 0; instance < 2; instance += 1) await open(bouncer?.url ?? '')
  })
  const stores: TestDatabase[] = []
  afterAll(async () => {
    for (const { till } of instances) await till.close()
    for (const one of stores) expect(await faultsInBooks(one.owner)).toEqual([])
    for (const stop of stops.reverse()) await stop()
    await kit.close()
    await db.close()
    await rm(home, { recursive: true, force: true })
  })
  const rows = async (payer: string) =>
    (
      await (stores[0] as TestDatabase).owner.query<{ state: string; delivered: boolean }>(
        'select state, delivered_at is not null as delivered from payment where payer = $1 order by claimed_at',
        [payer],
      )
    ).rows
  const at = (index: number) => instances[index] as (typeof instances)[number]

  test('sell nothing before the jobs ran, and each payment once after', async () => {
    const buyer = await kit.buyer(at(0).send)
    expect((await buyer.fetch('/weather/rome')).status).toBe(503)
    expect(await at(1).till.runJobs()).toEqual({ failed: [] })
    const payment = await until('it sells', async () => {
      const signed = await buyer.sign(await at(0).send(new Request('http://seller.test/weather/rome')))
      const given = await at(0).send(
        new Request('http://seller.test/weather/rome', { headers: { 'payment-signature': signed } }),
      )
      return given.status === 200 && signed
    })
    // Nothing is left to be done after the response.
    expect((await rows(buyer.address)).filter(({ state }) => state === 'served')).toEqual([
      { state: 'served', delivered: true },
    ])
    const copies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        at(index % 2).send(
          new Request('http://seller.test/weather/rome', { headers: { 'payment-signature': payment } }),
        ),
      ),
    )
    expect(new Set(copies.map(({ status }) => status))).toEqual(new Set([409]))
  })

  test('use no lock of a session and no notifications', async () => {
    const { owner } = stores[0] as TestDatabase
    const { rows: locks } = await owner.query(
      `select objid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
       where locktype = 'advisory'`,
    )
    expect(locks).toEqual([])
    const { rows: listening } = await owner.query(
      `select query from pg_stat_activity where datname = current_database() and query ilike 'listen %'`,
    )
    expect(listening).toEqual([])
    expect(() => at(0).till.on('sale', () => {})).toThrow('databaseDirect')
  })

  test('one that was frozen takes nothing for what was released meanwhile, and sells again', async () => {
    const { owner } = stores[0] as TestDatabase
    const buyer = await kit.buyer(at(0).send)
    const before = begun
    const asked = buyer.fetch('/weather/frozen')
    await until('the handler runs', async () => begun > before)
    expect(await rows(buyer.address)).toMatchObject([{ state: 'claimed' }])
    await owner.query(`update payment_owner set alive_until = now() - interval '1 second'`)
    expect(await at(1).till.runJobs()).toEqual({ failed: [] })
    expect(await rows(buyer.address)).toMatchObject([{ state: 'released' }])
    release()
    expect((await asked).status).toBe(503)
    expect(await kit.chain.balanceOf(buyer.address)).toBe(10_000_000n)
    kit.clock.advance(31_000)
    expect((await buyer.fetch('/weather/oslo')).status).toBe(200)
    const { rows: alive } = await owner.query('select owner from payment_owner where dead_at is null')
    expect(alive).toHaveLength(2)
  })
})
