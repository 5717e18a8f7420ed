import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  createAssayClient,
  createIntents,
  type PayableNetwork,
  readCredit,
  readDemo,
  requestChallenge,
  type StreamedEvent,
  signIn,
  signRequest,
  tickOf,
  topUpCredit,
  verifyEvent,
} from '@assay/sdk'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { type PeerKeys, readSharedEvent } from '../packages/node/src/shops/intents/peers/shared-event.ts'
import { lockIntents, newestSeq, publishEvents } from '../packages/node/src/shops/intents/store.ts'
import { accounts, credit, debit, post } from '../packages/till/src/ledger/index.ts'
import { keyDirectoryPath } from '../packages/till/src/signing/index.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'
import { startCrashChild } from './harness/crash-child.ts'
import { openFeedShop } from './harness/feed-shop.ts'
import { quickMesh } from './harness/mesh-nodes.ts'
import { streamShops } from './harness/node-variants.ts'
import { openPeerGateway } from './harness/peer-gateway.ts'
import { pythonMissing } from './harness/python-verifier.ts'
import { buy, quote, send, signPayment } from './harness/till-fixture.ts'
import { pause, until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const price = 5_000_000_000n
const examples = fileURLToPath(new URL('../examples/stream', import.meta.url))
let url: string
let networks: PayableNetwork[]
let buyer: PrivateKeyAccount
let token: string

/** Leads to a peer in another process, which starts where it is needed. */
const gateway = await openPeerGateway()
const buckets = { demo: 'off', bucket_seconds: 1, epsilon_daily: 864_000, k: 10, share: true }
const till = useTill({
  ownShops: streamShops,
  shops: [openFeedShop],
  env: {
    INTENTS: JSON.stringify({ ...buckets, connections: 2, peers: [gateway.did] }),
    MESH: JSON.stringify(quickMesh),
    MESH_PEERS: gateway.url,
  },
})
afterAll(() => gateway.close())
beforeAll(async () => {
  url = `${till.node.url}/v1/market/intent-stream`
  networks = (await readDemo(till.node.url)).networks
  buyer = await till.newBuyer(price * 4n)
  // A stream that has said nothing yet is not for sale.
  expect((await fetch(url)).status).toBe(503)
  await search(40, 'stocks and bonds')
  await until('the stream is for sale', async () => (await fetch(url)).status === 402)
}, 120_000)

/** Searches of distinct wallets, as a sale writes them. */
async function search(agents: number, query: string, { database } = till.db): Promise<void> {
  await database.query(
    `insert into match_query (id, payer, query, pages, synthetic, asked_at)
     select 'qry_' || gen_random_uuid(), '0x' || lpad(to_hex(n), 40, '0'), $2, '[]', false, now()
     from generate_series(1, $1::int) n`,
    [agents, query],
  )
}

type Received = { id: string | undefined; name: string; data: Record<string, unknown>; json: string }

/** Reads a stream as a plain client does. */
function readEvents(response: Response) {
  const state = { events: [] as Received[], text: '', done: false, stop: () => {} }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  state.stop = () => void reader.cancel().catch(() => {})
  void (async () => {
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (done) break
      rest += Buffer.from(value ?? []).toString('utf8')
      const parts = rest.split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        state.text += `${part}\n\n`
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
        const json = field('data')
        if (json !== undefined)
          state.events.push({ id: field('id'), name: field('event') ?? '', data: JSON.parse(json).data, json })
      }
    }
    state.done = true
  })()
  return state
}

const streaming = { accept: 'text/event-stream' }
const open = (headers: Record<string, string> = {}, query = '') =>
  fetch(`${url}${query}`, { headers: { ...streaming, authorization: `Bearer ${token}`, ...headers } })
const patience = { timeout: 30_000, interval: 50 }

test('unpaid it is a 402 of 5000 USD on Base that fits into its header, whatever is asked for', async () => {
  for (const query of ['', '?cluster=52', '?cluster=nonsense']) {
    const response = await fetch(`${url}${query}`, { headers: streaming })
    expect(response.status).toBe(402)
    expect((response.headers.get('payment-required') ?? '').length).toBeLessThan(3_072)
  }
  const offer = await quote(url)
  expect(offer.accepts.filter(({ scheme }) => scheme === 'exact')).toMatchObject([
    { network: 'eip155:8453', amount: price.toString() },
  ])
  expect(await (await fetch(`${url}?cluster=nonsense`)).json()).toMatchObject({
    input_problem: { code: 'input_invalid' },
  })
})

test('a paid request that accepts events goes on as the stream, and its first event has subscription and token', async () => {
  const response = await buy(buyer, url, {}, { headers: streaming })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('signature-input')).toContain('tag="x402-stream"')
  const stream = readEvents(response)
  await expect.poll(() => stream.events[0]?.name, patience).toBe('subscription')
  const { subscription, token: given } = (stream.events[0] as Received).data as {
    subscription: Record<string, string>
    token: string
  }
  token = given
  expect(token).toMatch(/^asub_/)
  expect(subscription).toMatchObject({ tier: 'stream', price_usd: '5000', wallet: buyer.address })
  expect(Date.parse(subscription['until_at'] as string) - Date.parse(subscription['from_at'] as string)).toBe(
    30 * 86_400_000,
  )
  stream.stop()
})

test('the same wallet that pays again extends its subscription instead of being given the first answer again', async () => {
  const response = await buy(buyer, url)
  const body = (await response.json()) as { subscription: Record<string, string>; token: string; stream: unknown }
  expect(response.status, JSON.stringify(body)).toBe(200)
  expect(body.token).toBe(token)
  expect(body.stream).toMatchObject({ connections: 2, heartbeat_seconds: 15, replay_hours: 48 })
  expect(Date.parse(body.subscription['until_at'] as string)).toBeGreaterThan(Date.now() + 59 * 86_400_000)
})

test('demand of thirty agents is published as signed events in order; that of three is not', async () => {
  const stream = readEvents(await open())
  await expect.poll(() => stream.events.some(({ name }) => name === 'bucket'), patience).toBe(true)
  await search(30, 'stocks and bonds')
  await search(3, 'amusement and theme parks')
  await expect.poll(() => stream.events.filter(({ name }) => name === 'tick').length, patience).toBeGreaterThan(2)
  const ticks = stream.events.filter(({ name }) => name === 'tick')
  expect(new Set(ticks.map(({ data }) => (data['cluster'] as { id: string }).id))).toEqual(
    new Set(['414', '410', '391']),
  )
  for (const { data } of ticks) {
    expect(Math.abs((data['demand'] as number) - 30)).toBeLessThan(30)
    expect(data).toMatchObject({ synthetic: true, privacy: { k: 10 }, error_95: { demand: 1.6 } })
    expect(data['bonded']).toBeLessThanOrEqual(data['demand'] as number)
  }
  const seqs = stream.events.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split('-')[1])]))
  expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] as number) + index))
  expect(stream.text).not.toMatch(/0x0{38}/)
  const { keys } = await directory()
  for (const { json } of stream.events) expect(await verifyEvent(json, keys)).toMatchObject({ status: 'verified' })
  const [first] = ticks
  const altered = (first?.json ?? '').replace(/"demand":\d+/, '"demand":999')
  expect(await verifyEvent(altered, keys)).toEqual({ status: 'invalid', reason: 'data was changed' })
  stream.stop()
})

async function directory() {
  const document = (await (await fetch(`${till.node.url}/.well-known/http-message-signatures-directory`)).json()) as {
    keys: { kid: string; x: string; nbf: number }[]
  }
  return {
    keys: new Map(
      document.keys.map((key) => [key.kid, { keyId: key.kid, x: key.x, notBefore: 0, notAfter: undefined }]),
    ),
  }
}

test('what is published is in the transparency log and can never be changed', async () => {
  const { rows } = await till.db.database.query<{ seq: bigint; event: string; entry: Buffer }>(
    `select e.seq, e.event, l.entry from intent_event e join log_entry l on l.subject = 'intent:0-' || e.seq
     where e.cluster is not null order by e.seq limit 1`,
  )
  expect(JSON.parse(rows[0]?.entry.toString() ?? '')).toMatchObject({
    type: 'assay.intent/v1',
    cluster: expect.any(String),
  })
  const counted = await till.db.database.query<{ events: bigint; entries: bigint }>(
    `select (select count(*) from intent_event) as events, (select count(*) from log_entry where kind = 'intent') as entries`,
  )
  expect(counted.rows[0]?.events).toBe(counted.rows[0]?.entries)
  for (const change of ['update intent_event set demand = 1', 'delete from intent_event', 'delete from intent_bucket'])
    await expect(till.db.owner.query(change)).rejects.toThrow()
})

test('a reader comes back where it was, within filters, and is notified of what it can no longer have', async () => {
  await expect.poll(async () => newest(), patience).toBeGreaterThan(3)
  const stream = readEvents(await open({ 'last-event-id': '0-1' }, '?cluster=391'))
  await expect.poll(() => stream.events.some(({ name }) => name === 'tick'), patience).toBe(true)
  const seen = stream.events.filter(({ id }) => id !== undefined)
  expect(Number(seen[0]?.id?.split('-')[1])).toBeGreaterThan(1)
  for (const { name, data } of seen) if (name === 'tick') expect(data['cluster']).toMatchObject({ id: '391' })
  stream.stop()
  const ahead = readEvents(await open({}, '?after=0-99999999'))
  await expect
    .poll(() => ahead.events.find(({ name }) => name === 'gap')?.data, patience)
    .toMatchObject({
      reason: 'unknown_position',
      to: '0-99999999',
    })
  await expect.poll(() => ahead.events.some(({ name }) => name === 'bucket'), patience).toBe(true)
  ahead.stop()
})

async function newest(): Promise<number> {
  const { rows } = await till.db.database.query<{ seq: bigint | null }>('select max(seq) as seq from intent_event')
  return Number(rows[0]?.seq ?? 0)
}

test.each([
  ['an unknown cluster', {}, '?cluster=52,nonsense', 'input_invalid'],
  ['an id of another stream', { 'last-event-id': 'abc' }, '', 'bad_request'],
  ['a place that is none', {}, '?after=12', 'input_invalid'],
  ['an unknown word', {}, '?clusters=52', 'input_invalid'],
])('%s is 400', async (_what, headers, query, code) => {
  const response = await open(headers as Record<string, string>, query)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code })
})

test('nothing is charged for a wrong position in the stream', async () => {
  const offer = await quote(url, { headers: streaming })
  const response = await send(url, await signPayment(buyer, offer), {
    headers: { ...streaming, 'last-event-id': 'zzz' },
  })
  expect(response.status).toBe(400)
  expect(
    await (await fetch(`${till.node.url}/v1/subscriptions`, { headers: { authorization: `Bearer ${token}` } })).json(),
  ).toMatchObject({
    subscription: { tier: 'stream' },
    active: true,
  })
})

test('one subscription holds so many streams and no more; a wallet proof opens it as the token does', async () => {
  const challenge = await requestChallenge(till.node.url)
  const proof = await signIn(challenge, { account: buyer, origin: till.node.url })
  const first = await fetch(url, { headers: { ...streaming, 'sign-in-with-x': proof } })
  expect(first.status).toBe(200)
  const second = await open()
  await expect
    .poll(async () => {
      const third = await open()
      await third.body?.cancel()
      return third.status
    }, patience)
    .toBe(429)
  await first.body?.cancel()
  await second.body?.cancel()
  await expect
    .poll(async () => {
      const again = await open()
      await again.body?.cancel()
      return again.status
    }, patience)
    .toBe(200)
})

test('a token of the feeds, an ended one and a made-up one open nothing', async () => {
  expect((await open({ authorization: `Bearer asub_1_${'0'.repeat(52)}` })).status).toBe(401)
  const stranger = await till.newBuyer(300_000_000n)
  const bought = (await (await buy(stranger, `${till.node.url}/matrix/subscribe/standard`)).json()) as { token: string }
  const refused = await open({ authorization: `Bearer ${bought.token}` })
  expect(refused.status).toBe(402)
  expect(await refused.json()).toMatchObject({ renewal: [{ tier: 'stream', price_usd: '5000' }] })
})

test('a stream whose token was rotated or whose time is over ends and says so', async () => {
  const stream = readEvents(await open())
  await expect.poll(() => stream.events.length, patience).toBeGreaterThan(0)
  const rotated = await rotate()
  await expect.poll(() => stream.done, patience).toBe(true)
  expect(stream.events.at(-1)).toMatchObject({ name: 'end', data: { reason: 'token_ended' } })
  token = rotated
  const last = readEvents(await open())
  await expect.poll(() => last.events.length, patience).toBeGreaterThan(0)
  await till.db.database.query(
    `update subscription set until_at = now() + interval '1 second' where product = 'stream'`,
  )
  await expect.poll(() => last.done, patience).toBe(true)
  expect(last.events.at(-1)).toMatchObject({ name: 'end', data: { reason: 'expired' } })
  expect((await open()).status).toBe(402)
  await till.db.database.query(`update subscription set until_at = now() + interval '9 days' where product = 'stream'`)
})

async function rotate(): Promise<string> {
  const request = await signRequest(
    `${till.node.url}/v1/subscriptions/rotate?product=stream`,
    { method: 'POST' },
    { account: buyer },
  )
  const response = await fetch(request)
  const body = (await response.json()) as { token: string }
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body.token
}

test('the sample is free and says that its hour is empty when it is', async () => {
  const response = await fetch(`${url}/sample`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    data: [],
    next_cursor: null,
    note: expect.stringContaining('too few'),
    attribution: expect.stringContaining('CC BY 3.0'),
    privacy: { k: 10, mechanism: 'discrete_laplace' },
  })
  const clusters = (await (await fetch(`${url}/clusters`)).json()) as { data: { id: string; tier: number }[] }
  expect(clusters.data.find(({ id }) => id === '52')).toMatchObject({ tier: 1 })
  expect((await fetch(`${url}/sample?limit=0`)).status).toBe(400)
})

test('the sdk follows and verifies, and pays only when allowed', async () => {
  const client = createAssayClient({ account: buyer, baseUrl: till.node.url, maxPerCallUsd: '5000', networks })
  const intents = createIntents(client, { node: till.node.url })
  await expect(intents.stream().next()).rejects.toMatchObject({ details: { status: 402 } })
  const stop = new AbortController()
  const seen: StreamedEvent[] = []
  for await (const received of intents.stream({ token, lastEventId: '0-1', signal: stop.signal })) {
    seen.push(received)
    if (seen.some((one) => tickOf(one) !== undefined) && seen.some(({ name }) => name === 'bucket')) break
  }
  expect(seen[0]?.name).toBe('subscription')
  expect(seen.every(({ verified }) => verified.status === 'verified')).toBe(true)
})

test('assay stream shows a table, or the signed events line by line', async () => {
  const terminal = createTestTerminal()
  const args = ['stream', '--url', till.node.url, '--token', token, '--after', '0-1', '--buckets', '2']
  expect(await runCli([...args, '--json'], terminal)).toBe(0)
  const lines = terminal
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  expect(lines[0]).toMatchObject({ type: 'market.intent.subscription.v1' })
  expect(lines.filter(({ type }) => type === 'market.intent.bucket.v1')).toHaveLength(2)
  const human = createTestTerminal()
  expect(await runCli(['stream', '--url', till.node.url, '--sample'], human)).toBe(0)
  expect(human.stdout()).toContain('too few agents')
  const signal = createTestTerminal()
  expect(await runCli(['stream', '--url', till.node.url, '--signal'], signal)).toBe(0)
  expect(signal.stdout()).toContain('For sale.')
  expect(signal.stdout()).toContain('Simulated with these settings')
})

test('a ticket opens the stream without headers, takes a place of the subscription, and ends with its token', async () => {
  const intents = createIntents(createAssayClient({ account: buyer, baseUrl: till.node.url, maxPerCallUsd: '0' }), {
    node: till.node.url,
  })
  expect((await fetch(`${url}/ticket`, { method: 'POST' })).status).toBe(401)
  expect((await fetch(`${url}/events`, { headers: streaming })).status).toBe(401)
  const { url: address } = await intents.ticket(token)
  // As the native EventSource sends it.
  const openTicket = () => fetch(address, { headers: streaming })
  await expect.poll(async () => (await closing(openTicket())).status, patience).toBe(200)
  const first = readEvents(await openTicket())
  await expect.poll(() => first.events[0]?.name, patience).toBe('subscription')
  expect(first.text).not.toContain('asub_')
  const second = await open()
  await expect.poll(async () => (await closing(openTicket())).status, patience).toBe(429)
  await second.body?.cancel()
  token = await rotate()
  await expect.poll(() => first.done, patience).toBe(true)
  expect(first.events.at(-1)).toMatchObject({ name: 'end', data: { reason: 'token_ended' } })
  expect((await openTicket()).status).toBe(401)
})

const closing = async (response: Promise<Response>) => {
  const settled = await response
  await settled.body?.cancel()
  return settled
}

test('the days of a subscription are files of signed events, and a topic is a series, from its beginning on', async () => {
  const client = createAssayClient({ account: buyer, baseUrl: till.node.url, maxPerCallUsd: '0' })
  const intents = createIntents(client, { node: till.node.url })
  const { data: files } = await intents.files(token)
  const newest = files.at(-1) as (typeof files)[number]
  const lines = (await intents.file(token, newest.file)).trimEnd().split('\n')
  expect(lines.length).toBeGreaterThanOrEqual(newest.events)
  const { rows } = await till.db.database.query<{ event: string }>(
    `select event from intent_event where event = any($1)`,
    [lines.slice(0, 20)],
  )
  expect(rows).toHaveLength(Math.min(20, lines.length))
  const series = await intents.series(token, '391')
  expect(series[0]).toMatchObject({ demand: expect.any(Number), error_95: expect.any(Number) })
  await expect(intents.files('asub_1_nothing')).rejects.toMatchObject({ details: { status: 401 } })
  expect((await fetch(`${url}/files/${newest.file}`)).status).toBe(401)
  const terminal = createTestTerminal()
  expect(await runCli(['stream', '--url', till.node.url, '--token', token, '--files'], terminal)).toBe(0)
  expect(terminal.stdout()).toContain(newest.file)
  const printed = createTestTerminal()
  const args = ['stream', '--url', till.node.url, '--token', token]
  expect(await runCli([...args, '--file', newest.file], printed)).toBe(0)
  expect(printed.stdout()).toContain(lines[0])
  const listed = createTestTerminal()
  expect(await runCli([...args, '--series', '--cluster', '391'], listed)).toBe(0)
  expect(listed.stdout()).toContain('demand')
})

test('the example consumers in Node, Python and a shell read the stream and its files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'intents-'))
  const env = { ...process.env, NODE: till.node.url, TOKEN: token, AFTER: '0-1' }
  const run = async (command: string, ...args: string[]) =>
    (await promisify(execFile)(command, args, { env, cwd: examples, timeout: 120_000 })).stdout
  const reading = [run('node', 'consume.mjs', '1')]
  if (!pythonMissing) reading.push(run('python3', 'consume.py', '1'))
  for (const said of await Promise.all(reading)) expect(said).toMatch(/^\S+Z .+: \d+ ± [\d.]+\n$/)
  const files = (await run('sh', 'backfill.sh', folder)).trim().split('\n')
  for (const line of files) {
    const [path = '', count] = line.split(' ')
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(Number(count))
  }
  await rm(folder, { recursive: true })
}, 180_000)

test('bought from credit it goes on as the stream, without its own transaction', async () => {
  const rich = await till.newBuyer(price)
  const paying = createAssayClient({ account: rich, baseUrl: till.node.url, maxPerCallUsd: '1000', networks })
  for (let n = 0; n < 5; n += 1) await topUpCredit(paying, { node: till.node.url, usd: '1000' })
  const { rows: before } = await till.db.database.query('select id from payment where payer = $1 order by id', [
    rich.address.toLowerCase(),
  ])
  const response = await fetch(await signRequest(url, { headers: streaming }, { account: rich }))
  expect(response.status).toBe(200)
  const stream = readEvents(response)
  await expect.poll(() => stream.events[0]?.name, patience).toBe('subscription')
  expect((stream.events[0] as Received).data).toMatchObject({
    subscription: { tier: 'stream', wallet: rich.address },
    token: expect.stringMatching(/^asub_/),
  })
  stream.stop()
  const { rows: after } = await till.db.database.query('select id from payment where payer = $1 order by id', [
    rich.address.toLowerCase(),
  ])
  expect(after).toEqual(before)
  const { credit } = await readCredit(paying, till.node.url, rich.address)
  expect(credit.find(({ network }) => network === 'eip155:8453')?.credit_micro).toBe('0')
})

test('a fresh subscriber was given what was streamed before its purchase', async () => {
  await search(8, 'electric cars')
  await expect.poll(async () => newestSeq(till.db.database), patience).toBeGreaterThan(20)
  const fresh = await till.newBuyer(price)
  const bought = (await (await buy(fresh, url)).json()) as { token: string; subscription: { from_at: string } }
  const headers = { ...streaming, authorization: `Bearer ${bought.token}` }
  const stream = readEvents(await fetch(`${url}?after=0-1`, { headers }))
  await expect.poll(() => stream.events.filter(({ id }) => id !== undefined).length, patience).toBeGreaterThan(0)
  stream.stop()
  const gap = stream.events.find(({ name }) => name === 'gap') as Received
  expect(gap.data).toMatchObject({ from: '0-2', reason: 'before_subscription' })
  const [first] = stream.events.filter(({ id }) => id !== undefined)
  // The bucket that was the newest when the subscription began, and nothing older.
  const { rows } = await till.db.database.query<{ older: boolean }>(
    `select ends_at < (select max(b.ends_at) from intent_bucket b where b.closed_at <= $2) as older
     from intent_event where seq = $1`,
    [Number(first?.id?.split('-')[1]), new Date(bought.subscription.from_at)],
  )
  expect(rows).toEqual([{ older: false }])
  // Hung up within that bucket, and back after the next one: nothing of it is missing.
  const firstSeq = Number(first?.id?.split('-')[1])
  await expect
    .poll(
      async () =>
        (await till.db.database.query('select from intent_bucket where seq > $1 limit 2', [firstSeq])).rowCount,
      patience,
    )
    .toBe(2)
  const back = readEvents(await fetch(`${url}?after=${first?.id}`, { headers }))
  await expect.poll(() => back.events.filter(({ id }) => id !== undefined).length, patience).toBeGreaterThan(0)
  back.stop()
  expect(back.events.filter(({ name }) => name === 'gap')).toEqual([])
  expect(back.events.find(({ id }) => id !== undefined)?.id).toBe(`0-${firstSeq + 1}`)
}, 90_000)

test('a stream bought with Polygon credit said that it was paid on Base', async () => {
  const rich = await till.newBuyer(0n)
  const wallet = rich.address.toLowerCase() as `0x${string}`
  const lines = [
    debit(accounts.onchain('eip155:137', 'custody'), price),
    credit(accounts.credit('eip155:137', wallet), price),
  ]
  await post(till.db.database, [{ reference: `test_topup:${wallet}`, kind: 'opening', lines }])
  const response = await fetch(await signRequest(url, {}, { account: rich }))
  expect([response.status, await response.json()]).toMatchObject([200, { subscription: { chain: 'polygon' } }])
})

test('a reorg that takes the payment away ends the stream and the subscription', async () => {
  const { control } = till.base
  const unlucky = await till.newBuyer(price)
  control.setFinalityLag(40)
  await control.mine(1)
  const stream = readEvents(await buy(unlucky, url, {}, { headers: streaming }))
  await expect.poll(() => stream.events[0]?.name, patience).toBe('subscription')
  const bought = (stream.events[0] as Received).data as { token: string; subscription: { provisional: boolean } }
  expect(bought.subscription.provisional).toBe(true)
  const { rows } = await till.db.database.query<{ transaction: `0x${string}`; block: bigint }>(
    `select '0x' || encode(transaction, 'hex') as transaction, block_number as block from payment where payer = $1`,
    [unlucky.address.toLowerCase()],
  )
  // Nothing is mined until it was seen to be gone: our own transaction is sent again and would land at once.
  await control.holdMining()
  const depth = control.head().number - Number(rows[0]?.block) + 1
  await control.reorg(depth, { drop: [rows[0]?.transaction as `0x${string}`] })
  control.setFinalityLag(0)
  await expect.poll(() => stream.events.at(-1)?.name, { timeout: 60_000, interval: 100 }).toBe('end')
  await expect.poll(() => stream.done, patience).toBe(true)
  const again = await fetch(url, { headers: { ...streaming, authorization: `Bearer ${bought.token}` } })
  expect(again.status).toBe(402)
  await control.releaseMining()
})

test('what the operator shares with peers is signed by the key of this address, and nothing but published counts', async () => {
  const directory = (await (await fetch(`${till.node.url}${keyDirectoryPath}`)).json()) as { keys: PeerKeys }
  await search(40, 'stocks and bonds')
  const readBuckets = async () => {
    const { data } = (await (await fetch(`${url}/shared`)).json()) as { data: string[] }
    return data.map((text) => readSharedEvent(text, { address: till.node.url, keys: directory.keys }))
  }
  await expect.poll(async () => (await readBuckets()).some((one) => (one?.counts.size ?? 0) > 0), patience).toBe(true)
  const buckets = await readBuckets()
  expect(buckets.every((one) => one !== undefined)).toBe(true)
  for (const one of buckets)
    for (const [cluster, demand] of one?.counts ?? []) {
      const { rows } = await till.db.database.query(
        'select demand from intent_event where cluster = $1 and ends_at = $2',
        [cluster, new Date(one?.endsAtMs ?? 0)],
      )
      expect(rows).toEqual([{ demand }])
    }
})

test('demand of a named peer in another process is shown beside the own; lies, forgeries and its end change nothing of the own', async () => {
  const theirs = await openTestDatabase()
  const child = await startCrashChild(till, {
    variant: 'stream',
    jobs: ['market.intents.close'],
    env: { DATABASE_URL: theirs.databaseUrl, BASE_URL: gateway.url, INTENTS: JSON.stringify(buckets) },
  })
  gateway.leadTo(child.url)
  let over = false
  /** Both are searched all the time, and the peer closes its buckets. */
  const traffic = (async () => {
    for (; !over; await pause(200)) {
      await Promise.all([search(30, 'stocks and bonds'), search(14, 'stocks and bonds', theirs)])
      await child.round()
    }
  })()
  type Part = { demand: number; nodes: number }
  type Node = { did: string; state: string; ends_at: string | null }
  /** The newest bucket for which it is so, with the tick of a topic that both are asked about. */
  const bucket = (what: string, so: (node: Node, peers: Part) => boolean, after = 0) =>
    until(what, async () => {
      const { rows } = await till.db.database.query<{ seq: number; tick: string; demand: number; closer: string }>(
        `select b.seq::int as seq, t.event as tick, t.demand, b.event as closer from intent_event b
         join intent_event t on t.ends_at = b.ends_at and t.cluster = '391'
         where b.cluster is null and b.seq > $1 order by b.seq desc limit 20`,
        [after],
      )
      for (const { seq, tick, demand, closer } of rows) {
        const { own, peers } = JSON.parse(tick).data as { own: { demand: number }; peers: Part }
        const [node] = JSON.parse(closer).data.peers.nodes as [Node]
        // What an index is made of is the own figure, whatever a peer says.
        expect([own.demand, node.did]).toEqual([demand, gateway.did])
        expect(peers.demand).toBeLessThanOrEqual(Math.max(10, demand))
        if (so(node, peers)) return { seq, demand, peers, node }
      }
      return undefined
    })
  const honest = await bucket('the peer counts', (node, peers) => node.state === 'counted' && peers.nodes === 1)
  const { rows } = await theirs.database.query<{ demand: number }>(
    `select demand from intent_event where cluster = '391' and ends_at = $1`,
    [honest.node.ends_at],
  )
  expect(rows).toEqual([{ demand: honest.peers.demand }])

  await theirs.owner.query(
    `create function exaggerate() returns trigger language plpgsql as 'begin new.demand := 1000000; return new; end';
     create trigger exaggerated before insert on intent_event for each row when (new.cluster = '391') execute function exaggerate()`,
  )
  const heard = async (figure: string) =>
    (
      await till.db.database.query<{ ends_at: Date }>(
        `select ends_at from intent_peer_event where counts ->> '391' = $1 order by ends_at desc`,
        [figure],
      )
    ).rows[0]?.ends_at
  const lie = (await until('the lie is heard', () => heard('1000000'))).toISOString()
  const lied = await bucket('a bucket after the lie', (node) => (node.ends_at ?? '') >= lie, honest.seq)

  gateway.change('/v1/market/intent-stream/shared', (body) =>
    body.replaceAll(String.raw`\"demand\":`, String.raw`\"demand\":7`),
  )
  const forged = await bucket('nothing forged counts', ({ state }) => state === 'stale', lied.seq)
  expect([gateway.changedCount() > 0, await heard('71000000')]).toEqual([true, undefined])
  expect(forged.peers).toEqual({ demand: 0, nodes: 0 })

  over = true
  await traffic
  await child.stop()
  gateway.leadTo(undefined)
  await search(30, 'stocks and bonds')
  const alone = await bucket('the own stream goes on', ({ state }) => state !== 'counted', forged.seq)
  expect(alone.peers).toEqual({ demand: 0, nodes: 0 })
  await theirs.close()
}, 180_000)

test('the sample has the signed events of its hour, page by page', async () => {
  const toMs = Math.floor((Date.now() - 86_400_000) / 3_600_000) * 3_600_000
  await till.db.database.transaction(async (tx) => {
    await lockIntents(tx)
    const first = (await newestSeq(tx)) + 1
    const common = {
      startsAtMs: toMs - 3_600_000,
      endsAtMs: toMs - 1_000,
      bonded: null,
      error: null,
      ewma: null,
      synthetic: false,
    }
    await publishEvents(
      tx,
      [
        { ...common, seq: first, cluster: '52', demand: 40, event: '{"id":"a"}' },
        { ...common, seq: first + 1, cluster: null, demand: null, event: '{"id":"b"}' },
      ],
      Date.now(),
    )
  })
  type Page = { data: { id: string }[]; next_cursor: string | null; note: string | null }
  const page = async (query: string) => (await (await fetch(`${url}/sample?${query}`)).json()) as Page
  const one = await page('limit=1')
  expect(one).toMatchObject({ data: [{ id: 'a' }], note: null })
  expect(await page(`limit=1&cursor=${one.next_cursor}`)).toMatchObject({ data: [{ id: 'b' }], next_cursor: null })
})
