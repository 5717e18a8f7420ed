import { readFile } from 'node:fs/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { type Address, parseAddress } from '../packages/protocol/src/address.ts'
import { adapterPromises, promises } from '../packages/till/src/adapters/promises.ts'
import { demoUsdcAddress } from '../packages/till/src/devnet/index.ts'
import {
  ConfigError,
  cdp,
  createTill,
  http,
  local,
  type SaleEvent,
  type SaleHandler,
  type Till,
} from '../packages/till/src/index.ts'
import { connectClient } from '../packages/till/src/store/connection.ts'
import { InstanceMismatch } from '../packages/till/src/store/instance.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'
import { testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { openEmptyDatabase } from './harness/empty-database.ts'
import { createJobsByHand } from './harness/jobs-by-hand.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { until } from './harness/until.ts'
import { approveCollector, collector, createPullScheme, signPull } from './toys/pull-scheme.ts'

const db = await useTestDatabase()
const kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
afterAll(() => kit.close())

const problemsOf = (work: Promise<Till>) =>
  work.then(
    () => [],
    (error: unknown) => (error instanceof ConfigError ? error.problems : [String(error)]),
  )

test('everything that is wrong with the options is reported at once, with the fix', async () => {
  const problems = await problemsOf(
    createTill({
      database: 'mysql://x',
      networks: { base: { payTo: '0x1', rpc: 'http://far.example' }, moon: { payTo: undefined, rpc: [] } },
      facilitator: cdp({ keyId: undefined, keySecret: 'x' }),
      publicUrl: 'https://api.example.com/v1',
      exposureCap: 'lots',
      limits: { prepareSeconds: 15, settleSeconds: 30, platformSeconds: 10 },
    }),
  )
  for (const part of [
    'database: must be a postgres:// URL',
    'networks.base.payTo: must be an address with its EIP-55 checksum',
    'networks.base.rpc: each must be an https URL',
    'networks.moon: is not known',
    'facilitator: cdp({ keyId }) is missing',
    'publicUrl: must be an origin without a path',
    'exposureCap: must be decimal USD',
    'above the 10 s of the platform',
  ])
    expect(problems.join('\n')).toContain(part)
  const missing = await problemsOf(
    createTill({ database: undefined, networks: {}, facilitator: undefined, publicUrl: undefined }),
  )
  expect(missing).toHaveLength(4)
  expect(await problemsOf(createTill({ ...kit.options, facilitator: local({ keys: [] }) }))).toHaveLength(1)
  expect(await problemsOf(createTill({ ...kit.options, facilitator: http('not a url') }))).toHaveLength(1)
  const weak = { ...kit.options, demo: false, facilitator: http('http://facilitator.example'), payToExlusive: true }
  const weakProblems = (await problemsOf(createTill(weak))).join('\n')
  for (const part of ['payToExlusive: is not an option', 'http(url) must be https', 'publicUrl: must be https'])
    expect(weakProblems).toContain(part)
  expect(await problemsOf(createTill(JSON.parse('{}')))).toHaveLength(4)
})

test('a wrong declaration is refused when it is made', () => {
  const { till } = kit
  const handler = async () => ({})
  const refused = (declare: () => unknown) => {
    try {
      declare()
      return []
    } catch (error) {
      return error instanceof ConfigError ? error.problems : [String(error)]
    }
  }
  expect(refused(() => till.sell({ id: 'a.b', path: '/a', price: 'free' }, handler))[0]).toContain('decimal USD')
  expect(refused(() => till.sell({ id: 'a.b', path: '/a', price: '0' }, handler))[0]).toContain('above zero')
  expect(refused(() => till.sell({ id: 'a.b', path: '/a/:id', price: '1' }, handler))[0]).toContain('params schema')
  expect(refused(() => till.sell({ id: 'a.b', path: '/a', price: '1', networks: ['moon'] }, handler))[0]).toContain(
    'moon',
  )
  expect(refused(() => till.sell({ id: 'a.b', path: '/llms.txt', price: '1' }, handler))[0]).toContain('already taken')
})

test('a metered price charges what the handler said, and needs a scheme that can', async () => {
  const declaration = { id: 'meter.words', path: '/meter', price: { upTo: '0.05' } }
  const words: SaleHandler<undefined, undefined, undefined, undefined> = async ({ charge }) => {
    charge('0.0012')
    return { words: 12 }
  }
  const other = await openTestDatabase()
  const withoutWallets = await createTill({
    ...{ ...kit.options, database: other.databaseUrl },
    intercept: { facilitator: ({ settlersOf: _, ...real }) => real },
  })
  expect(() => withoutWallets.sell(declaration, words)).toThrow(
    'price.upTo needs a payment scheme that can charge less than was quoted on eip155:8453, and exact cannot',
  )
  await withoutWallets.close()
  const chain = rpcChain(kit.chain.url)
  const pull = createPullScheme(chain.request, (data) => sendTransaction(chain, collector, { to: chain.usdc, data }))
  const till = await createTill({ ...kit.options, database: other.databaseUrl, schemes: [pull] })
  till.sell(declaration, words)
  till.sell({ ...declaration, id: 'meter.much', path: '/much' }, async ({ charge }) => charge('0.06'))
  till.sell({ id: 'meter.fixed', path: '/fixed', price: '0.05' }, async ({ charge }) => charge('0.01'))
  const buyer = await kit.buyer(till.fetch)
  const account = privateKeyToAccount(buyer.privateKey)
  for (const { address } of [account, collector])
    await kit.chain.fund(parseAddress(address) as Address, { microUsdc: 0n })
  await sendTransaction(chain, account, { to: chain.usdc, data: approveCollector(1_000_000n) })
  const pay = async (path: string) => {
    const challenge = await till.fetch(new Request(`http://seller.test${path}`))
    const offer = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString())
    const payment = Buffer.from(JSON.stringify(await signPull(account, offer))).toString('base64')
    return till.fetch(new Request(`http://seller.test${path}`, { headers: { 'payment-signature': payment } }))
  }
  expect((await pay('/meter')).status).toBe(200)
  expect(10_000_000n - (await kit.chain.balanceOf(buyer.address))).toBe(1_200n)
  for (const path of ['/much', '/fixed']) expect((await pay(path)).status).toBe(500)
  // The very amount that was signed is what `exact` moves.
  expect((await buyer.fetch('/meter')).status).toBe(200)
  expect(10_000_000n - (await kit.chain.balanceOf(buyer.address))).toBe(51_200n)
  expect(await faultsInBooks(other.owner)).toEqual([])
  const text = await (await till.fetch(new Request('http://seller.test/llms.txt'))).text()
  expect(text).toContain('0.000001 to 0.05 USD')
  await till.close()
  await other.close()
})

/** The embedded chain over HTTP. */
function rpcChain(url: string) {
  const request = async (method: string, params: readonly unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await answer.json()) as { result: unknown }).result
  }
  return { chainId: 8453, usdc: demoUsdcAddress(8453), request }
}

test('a database that is another till is refused', async () => {
  const { base } = kit.options.networks
  const other = { ...base, payTo: '0x000000000000000000000000000000000000dEaD', rpc: base?.rpc }
  const another = { ...kit.options, networks: { base: other } }
  await expect(createTill(another)).rejects.toBeInstanceOf(InstanceMismatch)
  await expect(createTill(another)).rejects.toThrow('payeesChanged: { reason, by }')
})

test('a database with tables of another program is refused, with the fix', async () => {
  const empty = await openEmptyDatabase(db.databaseUrl)
  const client = await connectClient({ url: empty.url })
  await client.query('create table payment (id integer)')
  await client.end()
  await expect(createTill({ ...kit.options, database: empty.url })).rejects.toThrow(
    /"payment" already exists; the database has tables of another program/,
  )
  await empty.close()
})

test('a change of payTo is accepted once it is said why, and what arrives at the old address is still posted', async () => {
  const other = await openTestDatabase()
  const options = { ...kit.options, database: other.databaseUrl }
  const { base } = kit.options.networks
  const networks = { base: { ...base, payTo: '0x000000000000000000000000000000000000dEaD', rpc: base?.rpc } }
  const payeesChanged = { reason: 'moved to a hardware wallet', by: 'ann' }
  // At a first start there is nothing to change.
  await (await createTill({ ...options, payeesChanged })).close()
  await (await createTill({ ...options, networks, payeesChanged })).close()
  const moved = await createTill({ ...options, networks })
  const { rows } = await other.owner.query(`select actor, details from audit_log where action = 'instance.payees'`)
  expect(rows).toMatchObject([{ actor: 'ann', details: { reason: 'moved to a hardware wallet' } }])
  const { rows: own } = await other.owner.query('select address from own_address')
  expect(own.length).toBe(3)
  await moved.close()
  await other.close()
})

test('money that this till did not sell for is credited only where payTo is its own alone', async () => {
  const [shared, alone] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const open = (database: string, payToExclusive: boolean) =>
    createTill({ ...kit.options, database, jobs: 'cron', ...(payToExclusive ? { payToExclusive } : {}) })
  const tills = [await open(shared.databaseUrl, false), await open(alone.databaseUrl, true)]
  const rounds = async () => {
    for (const till of tills) for (let round = 0; round < 2; round += 1) await till.runJobs()
  }
  await rounds()
  kit.till.sell({ id: 'other.thing', path: '/other', price: '0.03' }, async () => ({ ok: true }))
  const buyer = await kit.buyer(kit.till.fetch)
  expect((await buyer.fetch('/other')).status).toBe(200)
  const posted = async ({ owner }: typeof shared) =>
    (
      await owner.query(
        `select posted_as, t.amount_micro, state from transfer t left join payment p on p.payer = t.sender where sender = $1`,
        [buyer.address],
      )
    ).rows
  // A round in which the chain could not be read records nothing.
  await until('both recorded the transfer', async () => {
    await rounds()
    return (await Promise.all([posted(shared), posted(alone)])).every((rows) => rows.length > 0)
  })
  expect(await posted(shared)).toEqual([{ posted_as: 'review', amount_micro: 30_000n, state: null }])
  expect(await posted(alone)).toEqual([{ posted_as: 'payment', amount_micro: 30_000n, state: 'credited' }])
  for (const till of tills) await till.close()
  await Promise.all([shared.close(), alone.close()])
})

test('where jobs are run from outside, nothing is sold without them', async () => {
  const other = await openTestDatabase()
  const till = await createTill({ ...kit.options, database: other.databaseUrl, jobs: 'cron', jobsSecondsMax: 60 })
  till.sell({ id: 'cron.thing', path: '/thing', price: '0.01' }, async () => ({ thing: 1 }))
  const buyer = await kit.buyer(till.fetch)
  expect((await buyer.fetch('/thing')).status).toBe(503)
  expect(await till.runJobs()).toEqual({ failed: [] })
  const answer = await until('it sells again', async () => {
    const given = await buyer.fetch('/thing')
    return given.status === 200 && given
  })
  expect(await answer.json()).toEqual({ thing: 1 })
  await other.owner.query(`update job_lease set finished_at = finished_at - interval '2 minutes'`)
  await until('it refuses again', async () => (await buyer.fetch('/thing')).status === 503)
  await till.close()
  await other.close()
})

test('where jobs run in the process and do not end, nothing is sold either', async () => {
  const other = await openTestDatabase()
  const till = await createTill({ ...kit.options, database: other.databaseUrl, jobsSecondsMax: 10 })
  till.sell({ id: 'here.thing', path: '/here', price: '0.01' }, async () => ({ thing: 1 }))
  const buyer = await kit.buyer(till.fetch)
  expect((await buyer.fetch('/here')).status).toBe(200)
  const hold = (until: string) =>
    other.owner.query(
      `update job_lease set token = token + 1, expires_at = ${until}, finished_at = now() - interval '1 minute'
       where name = 'payments.recover'`,
    )
  await until('a first round is over', async () => {
    const { rows } = await other.owner.query(
      `select from job_lease where name = 'payments.recover' and finished_at is not null`,
    )
    return rows.length === 1
  })
  await hold(`now() + interval '1 hour'`)
  kit.clock.advance(11_000)
  await until('it refuses', async () => (await buyer.fetch('/here')).status === 503)
  await hold(`'-infinity'`)
  await until('it sells again', async () => (await buyer.fetch('/here')).status === 200)
  await till.close()
  await other.close()
})

test('events tell of sales after they were committed', async () => {
  const sales: SaleEvent[] = []
  const off = kit.till.on('sale', (sale) => sales.push(sale))
  kit.till.sell({ id: 'event.thing', path: '/event', price: '0.02' }, async () => ({ ok: true }))
  const buyer = await kit.buyer(kit.till.fetch)
  const first = await until('an event comes', async () => {
    await buyer.fetch('/event')
    return sales[0]
  })
  expect(first).toMatchObject({ routeId: 'event.thing', payer: buyer.address, amountMicro: 20_000n })
  off()
})

test('the table of promises in the documents is the one that the package states', async () => {
  const names = Object.keys(adapterPromises) as (keyof typeof adapterPromises)[]
  const rows = (Object.keys(promises) as (keyof typeof promises)[]).map(
    (promise) => `| ${promises[promise]} | ${names.map((name) => adapterPromises[name][promise]).join(' | ')} |`,
  )
  const guide = await readFile(new URL('../docs/embed.md', import.meta.url), 'utf8')
  for (const row of [`| promise | ${names.join(' | ')} |`, ...rows]) expect(guide).toContain(row)
})

test('what was paid before a restart is finished once its route is declared, and credited where it never is', async () => {
  const other = await openTestDatabase()
  const jobs = createJobsByHand()
  const open = () => createTill({ ...kit.options, database: other.databaseUrl, intercept: { job: jobs.intercept } })
  const declare = (till: Till, commit: () => Promise<void>) =>
    till.sell(
      { id: 'again.thing', path: '/again', price: '0.01' },
      { prepare: async () => ({ answer: { thing: 1 } }), commit },
    )
  const stateOf = async ({ address }: { address: string }) => {
    const { rows } = await other.owner.query<{ state: string }>('select state from payment where payer = $1', [address])
    return rows.map(({ state }) => state)
  }
  const ending = await open()
  declare(ending, () => Promise.reject(new Error('the process ends here')))
  const [first, second] = [await kit.buyer(ending.fetch), await kit.buyer(ending.fetch)]
  for (const buyer of [first, second]) expect((await buyer.fetch('/again')).status).toBe(503)
  await ending.close()
  await other.owner.query('update payment set route_id = $1 where payer = $2', ['removed.thing', second.address])
  const restarted = await open()
  expect([await stateOf(first), await stateOf(second)]).toEqual([['unknown'], ['unknown']])
  declare(restarted, async () => {})
  await jobs.run(['payments.recover'])
  expect([await stateOf(first), await stateOf(second)]).toEqual([['served'], ['unknown']])
  kit.clock.advance(601_000)
  await jobs.run(['payments.recover'])
  expect(await stateOf(second)).toEqual(['credited'])
  await restarted.close()
  await other.close()
})
