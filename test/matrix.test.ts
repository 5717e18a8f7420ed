import { createHash } from 'node:crypto'
import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { sampleFiles } from '../packages/node/src/shops/matrix/demo/sample-files.fixture.ts'
import { ingestFile } from '../packages/node/src/shops/matrix/operator.ts'
import { createSymbolTable } from '../packages/node/src/shops/matrix/store/symbol-table.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import type { EntitlementPort } from '../packages/till/src/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { revokeTokens } from '../packages/till/src/signing/index.ts'
import { buy, openTill } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

type Cell = { value: unknown; source: string; as_of: string; available_at: string; licence: string } | null
type Row = {
  rank: number
  symbol: string
  score?: number
  values: Record<string, Cell>
  factors?: Record<string, Cell>
}
type Answer = {
  feed: string
  tier: string
  as_of: string
  available_at: string
  sha256: string
  synthetic: boolean
  row_count: number
  data: Row[]
  next_cursor: string | null
  unranked: Record<string, string>
  inputs?: { source: string; sha256: string; available_at: string }[]
  left_out: { source: string }[]
  notes: { factors_used: { name: string }[]; factors_left_out: { name: string; why: string }[] }
  history?: { series: Record<string, { as_of: string; revision: number }[]> }
}

const feeds = [
  'squeeze',
  'equities',
  'etf',
  'short-volume',
  'short-interest',
  'ftd',
  'threshold',
  'borrow',
  'halts',
  'institutional',
]

/** Replaces a subscription: any caller who names it is admitted. */
const pass: EntitlementPort = {
  name: 'test-pass',
  claims: (headers) => headers.has('x-test-pass'),
  hold: async () => ({ status: 'held', holdId: 'h', account: '0x1111111111111111111111111111111111111111' }),
  capture: async (_tx, held) => held.map(() => ({ status: 'captured' })),
  release: async () => undefined,
  describe: async () => undefined,
}

const till = useTill({
  ownShops: ['account', 'sandbox', 'matrix', 'subscriptions', 'rewards'],
  env: { MATRIX: '{"demo":"small"}' },
  shops: [() => ({ routes: [], entitlements: [pass] })],
})

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${till.node.url}${path}`, { headers })
const json = async (path: string) => (await get(path)).json() as Promise<Answer>

test('at ready all ten feeds are described, sold, and have a delayed snapshot old enough', async () => {
  const { data } = (await (await get('/matrix')).json()) as {
    data: { id: string; tiers: string[]; prices: Record<string, { usd: string }> }[]
  }
  expect(data.map(({ id }) => id)).toEqual(feeds)
  for (const entry of data) {
    expect(entry.tiers).toEqual(['delayed', 'live', 'vip'])
    expect([entry.prices.live?.usd, entry.prices.vip?.usd]).toEqual(['0.05', '0.25'])
    const delayed = await json(`/matrix/${entry.id}/delayed`)
    expect(delayed.synthetic).toBe(true)
    expect(Date.now() - Date.parse(delayed.available_at)).toBeGreaterThan(65 * 60_000)
    expect(delayed.row_count).toBeGreaterThan(0)
    for (const row of delayed.data)
      for (const cell of Object.values(row.values))
        if (cell)
          expect(Object.keys(cell)).toEqual(
            expect.arrayContaining(['value', 'source', 'as_of', 'available_at', 'licence']),
          )
  }
})

test('an unknown feed is 404 with the list of feeds before any 402, on every tier', async () => {
  for (const tier of ['live', 'vip', 'delayed', 'quality']) {
    const response = await get(`/matrix/nope/${tier}`)
    expect(response.status).toBe(404)
    expect(((await response.json()) as { feeds: string[] }).feeds).toEqual(feeds)
  }
  expect((await get('/matrix/squeeze/live')).status).toBe(402)
})

test('a paid live pull is ranked and smaller than vip, which adds the factors', async () => {
  const buyer = await till.newBuyer()
  const live = (await (await buy(buyer, `${till.node.url}/matrix/squeeze/live?limit=5`)).json()) as Answer
  const vip = (await (await buy(buyer, `${till.node.url}/matrix/squeeze/vip?limit=5`)).json()) as Answer
  expect(live.data.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
  const scores = live.data.map(({ score }) => score as number)
  expect([...scores].sort((a, b) => b - a)).toEqual(scores)
  expect(live.sha256).toBe(vip.sha256)
  expect(live.data[0]?.factors).toBeUndefined()
  expect(Object.keys(vip.data[0]?.factors ?? {})).toHaveLength(4)
  expect(vip.inputs?.length).toBeGreaterThan(20)
})

test('pages follow each other without gap or repeat, within one snapshot', async () => {
  const seen: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Answer = await json(`/matrix/etf/delayed?limit=40${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...page.data.map(({ rank }) => rank))
    cursor = page.next_cursor
  }
  expect(seen).toEqual(seen.map((_, index) => index + 1))
  expect((await get(`/matrix/etf/delayed?cursor=${'0'.repeat(64)}.3`)).status).toBe(400)
})

test('symbols are found in any spelling, and one that is not ranked says why', async () => {
  const funds = await json('/matrix/etf/delayed?limit=1')
  const { symbol } = funds.data[0] as Row
  const answer = await json(`/matrix/squeeze/delayed?symbol=${symbol.toLowerCase()},ZZNONE`)
  expect(answer.unranked).toEqual({ [symbol]: 'etf', ZZNONE: 'not_in_this_feed' })
  const best = await json('/matrix/squeeze/delayed?min_score=80')
  expect(best.data.every(({ score }) => (score as number) >= 80)).toBe(true)
  expect((await get('/matrix/squeeze/delayed?symbol=%3Cx%3E')).status).toBe(400)
  expect((await get('/matrix/squeeze/delayed?sort=x')).status).toBe(400)
})

test('the best of the ranking have their own scores, and rows come sorted and filtered by any column of the tier', async () => {
  const first = await json('/matrix/squeeze/delayed?limit=50')
  expect(new Set(first.data.map(({ score }) => score)).size).toBe(50)
  const ask = (query: Record<string, string>) => `/matrix/squeeze/delayed?${new URLSearchParams(query)}`
  const sorted = await json(ask({ sort: '-days_to_cover', filter: 'borrow_fee>1,kind=share', limit: '20' }))
  const cell = (row: Row, name: string) => row.values[name]?.value as number
  const days = sorted.data.map((row) => cell(row, 'days_to_cover'))
  expect(days).toEqual([...days].sort((a, b) => b - a))
  expect(sorted.data.length).toBeGreaterThan(0)
  expect(sorted.data.every((row) => cell(row, 'borrow_fee') > 1)).toBe(true)
  const refused = await get(ask({ filter: 'factors.borrow_fee>1' }))
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { columns: { name: string; unit: string }[] }).columns).toContainEqual({
    name: 'days_to_cover',
    unit: 'days',
  })
  const vip = await get(`/matrix/squeeze/vip?limit=3&filter=factors.borrow_fee%3E1`, { 'x-test-pass': '1' })
  expect(vip.status).toBe(200)
})

test('version 1 of the score is made again under its name', async () => {
  const asked = await get('/matrix/squeeze/vip?limit=5&method=assay-squeeze-1', { 'x-test-pass': '1' })
  const old = (await asked.json()) as Answer & { method: string }
  expect(old.method).toBe('assay-squeeze-1')
  expect(old.notes.factors_used.map(({ name }) => name)).toContain('days_to_cover')
})

test('CSV, NDJSON and Parquet carry the same rows; formulas in names stay text', async () => {
  const rows = (await json('/matrix/borrow/delayed?limit=7')).data
  const csv = await (await get('/matrix/borrow/delayed?limit=7', { accept: 'text/csv' })).text()
  const lines = csv
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
  expect(lines[0]).toContain('fee_pct,fee_pct_source,fee_pct_as_of,fee_pct_available_at,fee_pct_licence')
  expect(lines.slice(1).map((line) => line.split(',')[1])).toEqual(rows.map(({ symbol }) => symbol))
  const ndjson = (await (await get('/matrix/borrow/delayed?limit=7', { accept: 'application/x-ndjson' })).text())
    .trim()
    .split('\n')
  expect(ndjson.slice(1).map((line) => (JSON.parse(line) as Row).symbol)).toEqual(rows.map(({ symbol }) => symbol))
  const parquet = await get('/matrix/borrow/delayed?limit=7', { accept: 'application/vnd.apache.parquet' })
  const file = await parquetReadObjects({ file: await parquet.arrayBuffer() })
  expect(file.map((row) => row['symbol'])).toEqual(rows.map(({ symbol }) => symbol))
})

test('as_of answers with what was known then, and history with the past of one symbol', async () => {
  const now = await json('/matrix/squeeze/delayed?limit=1')
  const then = new Date(Date.parse(now.available_at) - 5 * 86_400_000).toISOString()
  for (const tier of ['vip', 'live', 'delayed']) {
    const asked = await get(`/matrix/squeeze/${tier}?limit=3&as_of=${then}`, { 'x-test-pass': '1' })
    const past = (await asked.json()) as Answer & { known_at: string }
    expect([tier, past.available_at <= then, past.known_at]).toEqual([tier, true, then])
    expect(past.inputs?.every(({ available_at }) => available_at <= then)).toBe(tier === 'vip' ? true : undefined)
    expect((await get(`/matrix/${feeds[3]}/${tier}?as_of=2199-01-01`, { 'x-test-pass': '1' })).status).toBe(400)
  }
  // What is free is never younger than the delay, whatever moment is named.
  const free = await json(`/matrix/halts/delayed?as_of=${new Date(Date.now() - 1000).toISOString()}`)
  expect(free.sha256).toBe((await json('/matrix/halts/delayed')).sha256)
  const symbol = now.data[0]?.symbol
  const one = (await (
    await get(`/matrix/squeeze/vip?symbol=${symbol}&history=10`, { 'x-test-pass': '1' })
  ).json()) as Answer
  expect(one.history?.series.short_volume).toHaveLength(10)
  expect((await get('/matrix/squeeze/vip?history=10', { 'x-test-pass': '1' })).status).toBe(400)
})

test('a wallet saves screens and watchlists, anyone with the id pulls by them, and nobody else changes them', async () => {
  const [account, stranger] = [await till.newBuyer(), await till.newBuyer()]
  const ask = async (method: string, path: string, body?: unknown, by = account) => {
    const init = {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }
    const response = await fetch(await signRequest(`${till.node.url}${path}`, init, { account: by }))
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const screen = { name: 'dear', feed: 'squeeze', sort: '-borrow_fee', filter: 'borrow_fee>5', limit: '4' }
  const saved = await ask('POST', '/v1/matrix/screens', screen)
  expect([saved.status, saved.body['sort']]).toEqual([200, '-borrow_fee'])
  const shown = await json(`/matrix/squeeze/delayed?screen=${saved.body['id']}`)
  const asked = await json('/matrix/squeeze/delayed?sort=-borrow_fee&filter=borrow_fee%3E5&limit=4')
  expect(shown.data).toEqual(asked.data)
  // What the query says comes first.
  expect((await json(`/matrix/squeeze/delayed?screen=${saved.body['id']}&limit=2`)).data).toHaveLength(2)
  expect((await get(`/matrix/borrow/delayed?screen=${saved.body['id']}`)).status).toBe(400)
  const symbols = asked.data.map(({ symbol }) => symbol)
  const list = await ask('POST', '/v1/matrix/screens', { name: 'mine', symbols: [...symbols, 'zznone'] })
  const watched = await json(`/matrix/squeeze/delayed?screen=${list.body['id']}`)
  expect(watched.data.map(({ symbol }) => symbol).sort()).toEqual([...symbols].sort())
  expect(watched.unranked).toEqual({ ZZNONE: 'not_in_this_feed' })
  const again = await ask('POST', '/v1/matrix/screens', { ...screen, limit: '3' })
  expect(again.body['id']).toBe(saved.body['id'])
  const own = await ask('GET', '/v1/matrix/screens')
  expect((own.body['data'] as { name: string }[]).map(({ name }) => name)).toEqual(['dear', 'mine'])
  expect((await ask('POST', '/v1/matrix/screens', { name: 'x', feed: 'squeeze', filter: 'nothing>1' })).status).toBe(
    400,
  )
  expect((await ask('POST', '/v1/matrix/screens/remove', { id: saved.body['id'] }, stranger)).status).toBe(404)
  expect((await ask('POST', '/v1/matrix/screens/remove', { id: saved.body['id'] })).status).toBe(200)
  // Another query: answers of the free tier are kept for a few seconds.
  expect((await get(`/matrix/squeeze/delayed?screen=${saved.body['id']}&limit=1`)).status).toBe(400)
})

test('a month is downloaded as the manifest says, for a payment or with vip; what is no file is 404 before any 402', async () => {
  type Entry = { file: string; sha256: string; format: string }
  const manifest = async () => ((await (await get('/matrix/ftd/bulk')).json()) as { data: Entry[] }).data
  await expect.poll(async () => (await manifest()).length, { timeout: 60_000, interval: 500 }).toBeGreaterThan(1)
  const [entry] = await manifest()
  const url = `${till.node.url}/matrix/ftd/bulk/${entry?.file}`
  expect((await fetch(url)).status).toBe(402)
  const bought = await buy(await till.newBuyer(), url)
  const bytes = Buffer.from(await bought.arrayBuffer())
  expect([bought.status, createHash('sha256').update(bytes).digest('hex')]).toEqual([200, entry?.sha256])
  expect((await get('/matrix/ftd/bulk/nothing.csv')).status).toBe(404)
  expect((await get('/matrix/ftd/bulk/2019-01.csv', { 'x-test-pass': '1' })).status).toBe(404)
})

/** A wallet that subscribed to vip, with its token. */
async function subscriber() {
  const account = await till.newBuyer(1_000_000_000n)
  const bought = await buy(account, `${till.node.url}/matrix/subscribe/vip`)
  const { token } = (await bought.json()) as { token: string }
  return { account, authorization: `Bearer ${token}` }
}

/** Collects what comes until the stream ends or is left. */
function readStream(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const seen = { text: '', done: false, leave: () => reader.cancel().catch(() => {}) }
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (done) break
      seen.text += Buffer.from(value ?? []).toString('utf8')
    }
    seen.done = true
  })()
  return seen
}

const patience = { timeout: 20_000, interval: 100 }

test('a vip stream had no limit of open streams', async () => {
  const { authorization } = await subscriber()
  const open = () => get('/matrix/squeeze/vip?stream=1', { authorization })
  const streams = []
  for (let n = 0; n < 5; n += 1) {
    const response = await open()
    expect(response.status).toBe(200)
    streams.push(readStream(response))
  }
  const refused = await open()
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
  // Pulls are not streams.
  expect((await get('/matrix/squeeze/vip', { authorization })).status).toBe(200)
  await streams[0]?.leave()
  await expect
    .poll(async () => {
      const again = await open()
      if (again.status === 200) streams.push(readStream(again))
      return again.status
    }, patience)
    .toBe(200)
  for (const stream of streams) await stream.leave()
}, 60_000)

test('a vip stream survived the revocation of its token, and the end of its subscription', async () => {
  const { account, authorization } = await subscriber()
  const other = await subscriber()
  const byToken = readStream(await get('/matrix/squeeze/vip?stream=1', { authorization }))
  const expiring = readStream(await get('/matrix/squeeze/vip?stream=1', { authorization: other.authorization }))
  for (const stream of [byToken, expiring]) await expect.poll(() => stream.text, patience).toContain('event: snapshot')
  const revoke = await signRequest(`${till.node.url}/v1/subscriptions/revoke`, { method: 'POST' }, { account })
  expect((await fetch(revoke)).status).toBe(200)
  await till.db.owner.query('update subscription set until_at = now() where wallet = $1', [
    other.account.address.toLowerCase(),
  ])
  for (const stream of [byToken, expiring]) await expect.poll(() => stream.done, patience).toBe(true)
  expect(byToken.text).toContain('"reason":"token_ended"')
  expect(expiring.text).toContain('"reason":"expired"')
  const last = await subscriber()
  const revoked = readStream(await get('/matrix/squeeze/vip?stream=1', { authorization: last.authorization }))
  await expect.poll(() => revoked.text, patience).toContain('event: snapshot')
  await revokeTokens(till.db.database, systemRng, systemClock.nowMs())
  await expect.poll(() => revoked.done, patience).toBe(true)
  expect(revoked.text).toContain('"reason":"token_ended"')
}, 60_000)

test('what pays for single calls opened a vip stream', async () => {
  const refused = await get('/matrix/squeeze/vip?stream=1', { 'x-test-pass': '1' })
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'subscription_required' }])
})

test('a stream is for subscribers: signed CloudEvents, and no payment opens it', async () => {
  const buyer = await till.newBuyer()
  const paid = await buy(buyer, `${till.node.url}/matrix/squeeze/vip?stream=1`)
  expect(paid.status).toBe(403)
  expect(((await paid.json()) as { code: string }).code).toBe('subscription_required')
  const stop = new AbortController()
  const { authorization } = await subscriber()
  const response = await fetch(`${till.node.url}/matrix/squeeze/vip?stream=1&limit=2`, {
    headers: { authorization },
    signal: stop.signal,
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (/data: .*\n\n/.test(text)) break
  }
  stop.abort()
  const event = JSON.parse(/data: (.*)\n/.exec(text)?.[1] as string) as {
    specversion: string
    type: string
    signature: string
    datasha256: string
    data: Answer
  }
  expect(event).toMatchObject({ specversion: '1.0', type: 'assay.matrix.snapshot.v1' })
  const signed = JSON.parse(Buffer.from(event.signature.split('.')[1] as string, 'base64url').toString()) as {
    datasha256: string
  }
  expect(signed.datasha256).toBe(event.datasha256)
  const forged = await get('/matrix/squeeze/vip?stream=1', { authorization, 'last-event-id': 'x\u0001' }).catch(
    () => undefined,
  )
  expect(forged === undefined || forged.status === 400).toBe(true)
})

test('without a licence the paid feeds rest on SEC data, say so, and what cannot be sold is 403 before any 402', async () => {
  const other = await openTill({ ownShops: ['account', 'sandbox', 'matrix'] })
  try {
    const deps = { database: other.db.database, clock: systemClock, symbols: createSymbolTable() }
    for (const { file, source } of sampleFiles)
      expect(await ingestFile(deps, { ...file, source, availableAtMs: Date.now() - 7_200_000 })).toMatchObject({
        status: 'stored',
      })
    const url = (path: string) => `${other.node.url}/matrix/${path}`
    // Snapshots are made while files still come in: the directory is the last one that matters here.
    await expect
      .poll(async () => (await (await fetch(url('squeeze/delayed'))).text()).includes('nasdaq-directory'), {
        timeout: 40_000,
        interval: 500,
      })
      .toBe(true)
    expect((await fetch(url('ftd/live'))).status).toBe(402)
    for (const feed of ['short-volume', 'short-interest', 'threshold', 'borrow', 'halts'])
      for (const tier of ['live', 'vip']) {
        const refused = await fetch(url(`${feed}/${tier}`))
        expect([feed, refused.status]).toEqual([feed, 503])
        expect(await refused.json()).toMatchObject({ code: 'not_available', why: 'no_licence' })
      }
    // Each feed has its own snapshot, made after that of the composite.
    await expect
      .poll(async () => (await fetch(url('short-volume/delayed'))).status, { timeout: 40_000, interval: 500 })
      .toBe(200)
    // IBKR needs the operator's consent even to be shown.
    expect((await fetch(url('borrow/delayed'))).status).toBe(403)
    const buyer = await other.newBuyer()
    const squeeze = (await (await buy(buyer, url('squeeze/live?limit=3'))).json()) as Answer
    expect(squeeze.notes.factors_used.map(({ name }) => name)).toEqual(['fails_mean_to_shares'])
    expect(squeeze.notes.factors_left_out.find(({ name }) => name === 'borrow_fee')).toMatchObject({ why: 'licence' })
    expect(squeeze.left_out.map(({ source }) => source)).toEqual(
      expect.arrayContaining(['finra-short-interest', 'ibkr-borrow']),
    )
    expect(squeeze.synthetic).toBe(false)
    expect(JSON.stringify(squeeze)).not.toContain('CUSIP')
  } finally {
    await other.close()
  }
}, 150_000)
