import { readFile, rm, utimes, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { verifyForkEvidence } from '@assay/protocol/log/fork-evidence'
import { useFolder } from '@assay/till/kernel/use-folder.fixture'
import { afterEach, expect, test } from 'vitest'
import { leafHash } from '../tree-hash.ts'
import { originHash } from '../witness-store.ts'
import { serveMonitor } from './serve-monitor.ts'
import { logKey, type MemoryLog, memoryLog, openMonitor, origin, serveLog, witnessKey } from './test-log.fixture.ts'
import type { LogState, MonitorOptions } from './types.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const serve = async (...args: Parameters<typeof serveLog>) => {
  const server = await serveLog(...args)
  closing.push(server.close)
  return server
}
const monitorOf = async (url: string, options: Partial<MonitorOptions> = {}, folder?: string) => {
  const monitor = await openMonitor(url, options, folder)
  closing.push(monitor.close)
  return monitor
}
const texts = (from: number, count: number) => Array.from({ length: count }, (_, n) => `entry ${from + n}`)
const logOf = (count: number, first?: string): MemoryLog => {
  const log = memoryLog()
  log.add(first === undefined ? texts(0, count) : [first, ...texts(1, count - 1)])
  return log
}
const kinds = ({ findings }: LogState) => findings.map(({ kind }) => kind)

test('growth over many tiles is verified, kept over a restart, and served again as a mirror', async () => {
  const log = logOf(3)
  const server = await serve(log)
  const monitor = await monitorOf(server.url, { entries: true })
  const sizes: number[] = []
  let last: LogState | undefined
  // Inside the first tile, onto its end, and over several.
  for (const added of [0, 1, 252, 1, 300, 700, 1_303]) {
    log.add(texts(log.size(), added))
    const again = await monitorOf(server.url, { entries: true }, monitor.home)
    last = await again.look()
    expect(kinds(last)).toEqual([])
    expect(last.head?.size).toBe(log.size())
    sizes.push(last.audited)
  }
  expect(sizes).toEqual([3, 4, 256, 257, 557, 1_257, 2_560])
  if (!last) throw new Error('no state')
  const page = (path: string) =>
    serveMonitor(path, [{ state: last as LogState, store: monitor.store }], { nowMs: Date.now(), mirror: true })
  for (const path of [
    '/tile/0/000',
    '/tile/0/009',
    '/tile/1/000.p/10',
    '/tile/entries/009',
    '/tile/0/004.p/17',
    '/tile/entries/004.p/3',
  ])
    expect(Buffer.from((await page(path)).body), path).toEqual(log.file(path))
  expect((await page('/checkpoint')).body.toString()).toBe(log.head())
  expect((await page(`/${originHash(origin)}/checkpoint`)).body.toString()).toBe(log.head())
  for (const path of [
    '/tile/0/010',
    '/tile/1/000',
    '/tile/3/000',
    '/tile/0/../state.json',
    '/state.json',
    '/forks/state.json',
    '/tile/0/000.p/0',
  ])
    expect((await page(path)).status, path).toBe(404)
})

test('a check of a log that did not change requests next to nothing', async () => {
  const server = await serve(logOf(1_000))
  const monitor = await monitorOf(server.url)
  await monitor.look()
  server.asked.length = 0
  await monitor.look()
  expect(server.asked).toEqual(['/', '/checkpoint'])
})

async function proofIn(monitor: { home: string }, state: LogState): Promise<unknown> {
  expect(state.forks).toHaveLength(1)
  return JSON.parse(await readFile(join(monitor.home, 'forks', state.forks[0] ?? ''), 'utf8'))
}

test('a log that rewrites its past and grows leaves a file that proves it, and is never believed again', async () => {
  const server = await serve(logOf(700))
  const monitor = await monitorOf(server.url)
  expect(kinds(await monitor.look())).toEqual([])
  server.served.log = logOf(900, 'another beginning')
  server.served.head = () => server.served.log.head()
  const state = await monitor.look()
  expect(kinds(state)).toEqual(['fork'])
  expect(state.head?.size, 'the first history is kept').toBe(700)
  const evidence = (await proofIn(monitor, state)) as { heads: string[]; consistency: { proof: string[] } }
  expect(await verifyForkEvidence(evidence)).toEqual({ proven: true, origin, sizes: [700, 900] })
  expect(await verifyForkEvidence(evidence, [logKey.vkey])).toMatchObject({ proven: true })
  expect(await verifyForkEvidence(evidence, [witnessKey(9).vkey])).toMatchObject({ proven: false })
  const honest = logOf(900)
  for (const wrong of [
    { ...evidence, heads: [evidence.heads[0], honest.head()] },
    { ...evidence, heads: [evidence.heads[0], evidence.heads[0]] },
    { ...evidence, heads: [evidence.heads[1], evidence.heads[0]] },
    { ...evidence, consistency: { ...evidence.consistency, proof: evidence.consistency.proof.slice(1) } },
    { ...evidence, consistency: undefined },
    { ...evidence, keys: [] },
    { ...evidence, origin: 'another.example/log' },
  ])
    expect(await verifyForkEvidence(JSON.parse(JSON.stringify(wrong)))).toMatchObject({ proven: false })
  // After a restart, and with the first history shown again, it is still known.
  server.served.log = logOf(800)
  const again = await monitorOf(server.url, {}, monitor.home)
  expect(kinds(await again.look())).toEqual(['fork'])
})

test('two trees of one size, the second shown to a mirror only, are a fork too', async () => {
  const [here, there] = [await serve(logOf(300)), await serve(logOf(300, 'another beginning'))]
  const monitor = await monitorOf(here.url, { compare: [there.url] })
  const state = await monitor.look()
  expect(kinds(state)).toEqual(['fork'])
  expect(state.views[there.url]?.verdict).toBe('fork')
  expect(await verifyForkEvidence(await proofIn(monitor, state))).toEqual({ proven: true, origin, sizes: [300, 300] })
})

test('a copy that is older, newer or not of this log is distinguished from a fork', async () => {
  const log = logOf(1_200)
  const here = await serve(log)
  const older = await serve(logOf(517))
  const forked = await serve(logOf(517, 'another beginning'))
  const foreign = await serve(log, { head: () => log.otherHead(8) })
  const away = 'http://127.0.0.1:1'
  const calm = await (await monitorOf(here.url, { compare: [older.url] })).look()
  expect([kinds(calm), calm.views[older.url]?.verdict]).toEqual([[], 'agrees'])
  const fork = await (await monitorOf(here.url, { compare: [forked.url] })).look()
  expect(kinds(fork)).toEqual(['fork'])
  const odd = await (await monitorOf(here.url, { compare: [foreign.url, away] })).look()
  expect(kinds(odd)).toEqual(['view_unusable', 'view_unusable'])
  // The log hides from this monitor what it has shown to others.
  const follower = await monitorOf(older.url, { compare: [here.url] })
  const early = await follower.look()
  expect([kinds(early), early.views[here.url]?.verdict]).toEqual([[], 'ahead'])
  expect(kinds(await follower.look())).toEqual(['behind'])
  const hidden = await monitorOf(forked.url, { compare: [here.url] })
  const state = await hidden.look()
  expect(kinds(state)).toEqual(['fork'])
  expect(await verifyForkEvidence(await proofIn(hidden, state))).toMatchObject({ proven: true, sizes: [517, 1_200] })
})

test('a log that shrinks, stops growing, changes its key or its name is reported', async () => {
  const log = logOf(600)
  const server = await serve(log)
  const monitor = await monitorOf(server.url)
  await monitor.look()
  server.served.head = () => log.head(500)
  expect(kinds(await monitor.look()), 'a cache may be a little behind').toEqual([])
  monitor.advance(60_001)
  expect(kinds(await monitor.look()), 'the smaller tree is a part of the larger: no fork').toEqual(['shrunk'])
  server.served.head = () => log.head(600)
  monitor.advance(86_400_001)
  expect(kinds(await monitor.look())).toEqual(['not_growing'])
  log.add(['one more'])
  server.served.head = () => log.head()
  expect(kinds(await monitor.look())).toEqual([])
  server.served.head = () => log.otherHead(8)
  expect(kinds(await monitor.look())).toEqual(['unknown_key'])
  server.served.head = () => log.otherHead(7, 'renamed.example/test')
  expect(kinds(await monitor.look())).toEqual(['origin_changed'])
  const other = logOf(500, 'another beginning')
  server.served.head = () => other.head()
  expect(kinds(await monitor.look())).toEqual(['fork'])
})

test('keys of an Assay log are those of the first contact; without any key nothing is believed', async () => {
  const log = logOf(10)
  const vkeys = [logKey.vkey]
  const server = await serve(log, {
    alter: (path, response) => {
      if (path !== '/') return false
      response.writeHead(200).end(JSON.stringify({ origin, keys: vkeys, anchors: [] }))
      return true
    },
  })
  const monitor = await monitorOf(server.url, { keys: [] })
  expect([kinds(await monitor.look()), (await monitor.store.readState())?.keys]).toEqual([[], [logKey.vkey]])
  // It names another key from now on: anyone who can change that page could do so.
  vkeys.splice(0, 1, witnessKey(8).vkey)
  server.served.head = () => log.otherHead(8)
  expect(kinds(await monitor.look())).toEqual(['unknown_key'])
  const silent = await serve(logOf(10))
  expect(kinds(await (await monitorOf(silent.url, { keys: [] })).look())).toEqual(['unknown_key'])
})

test('witnesses count while their cosignatures are fresh, under the head or at their own address', async () => {
  const log = logOf(10)
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const server = await serve(log, { head: () => log.head() + log.cosigned(21, nowSeconds()) })
  const asked = await serve(log, {
    alter: (path, response) => {
      if (path !== `/${originHash(origin)}/checkpoint`) return false
      response.writeHead(200).end(log.head(7) + log.cosigned(22, nowSeconds(), 7))
      return true
    },
  })
  const [first, second] = [witnessKey(21).vkey, witnessKey(22).vkey]
  const both = { witnesses: [{ key: first }, { key: second, url: asked.url }], quorum: 2 }
  const monitor = await monitorOf(server.url, both)
  const state = await monitor.look()
  expect(kinds(state)).toEqual([])
  expect([state.witnesses[first]?.size, state.witnesses[second]?.size]).toEqual([10, 7])
  const lonely = await monitorOf(server.url, { witnesses: [{ key: first }, { key: second }], quorum: 2 })
  expect(kinds(await lonely.look())).toEqual(['witness_quorum'])
  const one = await monitorOf(server.url, { witnesses: [{ key: first }, { key: second }], quorum: 1 })
  expect(kinds(await one.look())).toEqual([])
  one.advance(3_700_000)
  expect(kinds(await one.look())).toEqual(['witness_quorum'])
  // A witness that cosigned another history proves the fork.
  const bad = logOf(7, 'another beginning')
  asked.served.alter = (_path, response) => {
    response.writeHead(200).end(bad.head() + bad.cosigned(22, nowSeconds()))
    return true
  }
  expect(kinds(await monitor.look())).toContain('fork')
})

test('receipts whose leaf is there are counted, one whose leaf is not is an alarm after the grace period', async () => {
  const log = logOf(600)
  const server = await serve(log)
  const receipts = useFolder('receipts')
  const monitor = await monitorOf(server.url, { receipts })
  const promise = (text: string) => ({ log: { origin, leaf_hash: leafHash(Buffer.from(text)).toString('base64') } })
  const jws = (value: unknown) =>
    `${Buffer.from('{"alg":"EdDSA"}').toString('base64url')}.${Buffer.from(JSON.stringify(value)).toString('base64url')}.${'A'.repeat(86)}`
  const put = async (name: string, content: unknown, ageMs = 600_000) => {
    const path = join(receipts, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    const at = new Date(monitor.clock.nowMs() - ageMs)
    await utimes(path, at, at)
  }
  await put('attestation.json', { id: 'att_1', record: {}, ...promise('entry 3') })
  await put('receipt.jws', jws(promise('entry 511')))
  await put('evidence.json', {
    format: 'assay-evidence',
    receipt: jws(promise('entry 599')),
    response: { body_base64: Buffer.from(JSON.stringify(promise('entry 0'))).toString('base64') },
  })
  await put('of-another-log.json', { log: { origin: 'other.example/log', leaf_hash: `${'A'.repeat(43)}=` } })
  await put('notes.txt', 'not a receipt')
  expect(await monitor.look()).toMatchObject({ findings: [], receipts: { checked: 4, missing: [] } })
  await put('young.json', promise('promised'), 1_000)
  expect(kinds(await monitor.look())).toEqual([])
  monitor.advance(120_000)
  const state = await monitor.look()
  expect(state).toMatchObject({
    findings: [{ kind: 'missing_leaf', severity: 'alarm' }],
    receipts: { checked: 4, missing: [{ file: 'young.json' }] },
  })
  log.add(['promised'])
  expect(await monitor.look()).toMatchObject({ findings: [], receipts: { checked: 5, missing: [] } })
})

test('hostile logs are reported and harm nothing', async () => {
  const log = logOf(700)
  const cases: [string, Parameters<typeof serveLog>[1], string[]][] = [
    ['a size beyond all tiles', { head: () => log.claimed(Number.MAX_SAFE_INTEGER) }, ['tiles_missing']],
    ['a body without end', { alter: endless }, ['unreachable']],
    ['a redirect', { alter: redirect }, ['unreachable']],
    ['no log at all', { head: () => '<html>' }, ['malformed']],
    ['tiles that are too short', { alter: forTiles((response) => response.end(Buffer.alloc(31))) }, ['tiles_wrong']],
    ['tiles of other hashes', { alter: wrongTiles }, ['tiles_wrong']],
    ['tiles without end', { alter: forTiles((response) => endless('', response)) }, ['tiles_missing']],
    ['tiles that are missing', { alter: forTiles((response) => response.writeHead(404).end()) }, ['tiles_missing']],
  ]
  for (const [name, options, expected] of cases) {
    const server = await serve(log, options)
    const monitor = await monitorOf(server.url)
    const state = await monitor.look()
    expect(kinds(state), name).toEqual(expected)
    expect([state.head, state.audited], name).toEqual([null, 0])
    expect(server.asked.length, name).toBeLessThan(20)
  }
})

function endless(_path: string, response: ServerResponse): true {
  response.writeHead(200)
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
  return true
}

function redirect(_path: string, response: ServerResponse): true {
  response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  return true
}

const forTiles =
  (answer: (response: ServerResponse, path: string) => unknown) => (path: string, response: ServerResponse) => {
    if (!path.startsWith('/tile/')) return false
    answer(response, path)
    return true
  }

const wrongTiles = forTiles((response, path) => {
  const width = Number(/\.p\/([0-9]+)$/.exec(path)?.[1] ?? 256)
  response.end(Buffer.alloc(width * 32, 1))
})

test('a huge tree that hashes to its root costs a bounded number of requests at each check', async () => {
  const log = logOf(20_000)
  const server = await serve(log)
  const monitor = await monitorOf(server.url, { tilesPerCheck: 16 })
  const first = await monitor.look()
  expect([kinds(first), first.head?.size, first.audited]).toEqual([[], 20_000, 4_096])
  expect(server.asked.length).toBeLessThan(40)
  const second = await monitor.look()
  expect(second.audited).toBe(8_192)
  const capped = await monitorOf(server.url, { leavesMax: 2_560 })
  expect((await capped.look()).audited).toBe(2_560)
  expect((await capped.look()).audited).toBe(2_560)
})

test('a leaf tile that the head needs no more is still checked against it, and not kept when it is wrong', async () => {
  const log = logOf(700)
  const server = await serve(log, {
    alter: (path, response) => {
      if (path !== '/tile/0/000') return false
      response.end(Buffer.alloc(8_192, 1))
      return true
    },
  })
  const monitor = await monitorOf(server.url)
  const state = await monitor.look()
  expect([kinds(state), state.head?.size, state.audited]).toEqual([['tiles_wrong'], 700, 0])
  expect(await monitor.store.readTile({ level: 0, tile: 0 })).toBeUndefined()
})

test('an entry that does not hash to its leaf is an alarm, and is not kept', async () => {
  const log = logOf(5)
  const server = await serve(log, {
    alter: (path, response) => {
      if (!path.startsWith('/tile/entries')) return false
      const bundle = Buffer.from(log.file(path) ?? '')
      bundle.writeUInt8(120, 4)
      response.end(bundle)
      return true
    },
  })
  const monitor = await monitorOf(server.url, { entries: true })
  const state = await monitor.look()
  expect([kinds(state), state.entries, state.audited]).toEqual([['entries_wrong'], 0, 5])
  expect(await monitor.store.readEntries(0)).toBeUndefined()
  expect(await monitor.store.readCheckpoint()).toBeUndefined()
})

test('a copy that lost files is made again', async () => {
  const log = logOf(600)
  const server = await serve(log)
  const monitor = await monitorOf(server.url)
  await monitor.look()
  await rm(join(monitor.home, 'tile'), { recursive: true })
  log.add(['one more'])
  const state = await monitor.look()
  expect([kinds(state), state.audited]).toEqual([[], 601])
})

test('a state that cannot be read stops the monitor instead of starting it again', async () => {
  const server = await serve(logOf(5))
  const monitor = await monitorOf(server.url)
  await monitor.look()
  await writeFile(join(monitor.home, 'state.json'), '{"version":1')
  await expect(monitor.look()).rejects.toThrow('cannot be read')
})
