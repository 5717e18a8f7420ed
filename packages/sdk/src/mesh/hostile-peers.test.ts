import {
  hang,
  listingOf,
  type PlayedPeer,
  type PlayedPeerOptions,
  playPeer,
  playWorld,
  reportOf,
} from '@assay/protocol/mesh/hostile-peer.fixture'
import { expect, test } from 'vitest'
import type { AssayResult } from '../context.ts'
import { defaultPlatform } from '../platform.ts'
import { fillIn } from './buy-from.ts'
import { discover } from './discover.ts'
import { followNext } from './follow-next.ts'

const nowMs = 1_800_000_000_000
const capability = 'token.control.report'
const home = 'https://home.example.org'
const victim = 'https://victim.example.com'
const play = (address: string, options: PlayedPeerOptions = {}) => playPeer(address, { nowMs: () => nowMs, ...options })

function look(nodes: PlayedPeer[], options: Partial<Parameters<typeof discover>[1]> = {}) {
  const world = playWorld(...nodes)
  const platform = { nowMs: () => nowMs, fetch: world.fetch }
  return { world, discovery: discover(capability, { nodes: [home], platform, ...options }) }
}
const reasonsOf = (rejected: readonly { address: string; reason: string }[]) =>
  Object.fromEntries(rejected.map((one) => [one.address, one.reason]))

test('an offer at an origin that does not publish the very key is not taken, whatever the key is called', async () => {
  const entry = play(home)
  const target = play(victim)
  const evil = play('https://evil.example.net', { offers: [reportOf('1', { site: 'base' })] })
  evil.content = { ...evil.content, base_url: victim }
  const renamed = play('https://renamed.example.net', { offers: [reportOf('1', { site: 'base' })], kid: target.kid })
  renamed.content = { ...renamed.content, base_url: victim }
  entry.listed = [listingOf(evil), listingOf(renamed)]
  const { world, discovery } = look([entry, target, evil, renamed])
  const { found, rejected } = await discovery
  expect(found.map((node) => node.address)).toEqual([home])
  expect(reasonsOf(rejected)).toMatchObject({
    [evil.address]: expect.stringContaining('base_url'),
    [renamed.address]: expect.stringContaining('base_url'),
  })
  // Its keys are read there, and nothing else.
  expect(target.asked.map(({ path }) => path)).toEqual(target.asked.map(() => expect.stringContaining('directory')))
  expect(world.reached.filter((url) => url.includes('/v1/report') && url.includes(victim))).toEqual([])
})

test.each([
  'https://127.0.0.1:8443',
  'https://10.0.0.1',
  'https://169.254.169.254',
  'https://[::1]',
  'https://[fd00::1]',
  'https://[::ffff:7f00:1]',
  'https://[64:ff9b::7f00:1]',
  'https://0x7f.1',
  'https://localhost',
  'https://printer.local',
  'http://evil.example.net',
  'http://127.0.0.1:4020',
])('a public node leads nobody to %s', async (address) => {
  const entry = play(home)
  const inside = play(new URL(address).origin)
  entry.listed = [listingOf(inside)]
  const { world, discovery } = look([entry, inside])
  expect((await discovery).found.map((node) => node.address)).toEqual([home])
  expect(world.reached.filter((asked) => !asked.includes(home))).toEqual([])
})

test('a public name that leads inside is not asked where the runtime can tell', async () => {
  const entry = play(home)
  const evil = play('https://evil.example.net')
  entry.listed = [listingOf(evil)]
  const resolve = async (host: string) => [host === 'evil.example.net' ? '10.0.0.1' : '93.184.216.34']
  const { world, discovery } = look([entry, evil], { resolve })
  expect((await discovery).found.map((node) => node.address)).toEqual([home])
  expect(world.reached.some((asked) => asked.includes(evil.address))).toBe(false)
})

test('nodes of one machine find each other there', async () => {
  const entry = play('http://127.0.0.1:4020')
  const other = play('http://127.0.0.1:4021')
  entry.listed = [listingOf(other)]
  const { discovery } = look([entry, other], { nodes: [entry.address] })
  expect((await discovery).found).toHaveLength(2)
})

test('peers that hang hold up nobody: they are asked together and left behind', async () => {
  const entry = play(home, { priceMicro: '50000' })
  const honest = Array.from({ length: 48 }, (_, i) => play(`https://honest${i}.example.org`, { priceMicro: '30000' }))
  const silent = Array.from({ length: 16 }, (_, i) => play(`https://silent${i}.example.net`, { priceMicro: '1' }))
  for (const peer of silent) peer.lie = (request) => hang(request)
  entry.listed = [...silent, ...honest].map((peer) => listingOf(peer))
  // Limits are distinguished by their length, not by a clock; they run at half speed, so that a busy machine reaches none first.
  let waitedMs = 0
  const timeout = (ms: number) => {
    const limit = defaultPlatform.timeout(ms * 2)
    limit.signal.addEventListener('abort', () => {
      waitedMs = Math.max(waitedMs, ms)
    })
    return limit
  }
  const world = playWorld(entry, ...honest, ...silent)
  const platform = { nowMs: () => nowMs, fetch: world.fetch, timeout }
  const { found, rejected } = await discover(capability, { nodes: [home], platform })
  expect(found).toHaveLength(5)
  expect(found.every(({ priceMicro }) => priceMicro === 30_000n)).toBe(true)
  expect(waitedMs).toBeLessThanOrEqual(1_500)
  expect(rejected.some(({ reason }) => reason.includes('in time'))).toBe(true)
})

test('start nodes are asked together, and one that never answers ends nothing', async () => {
  const entry = play(home)
  const silent = play('https://silent.example.net')
  silent.lie = (request) => hang(request)
  const { discovery } = look([entry, silent], { nodes: [silent.address, home] })
  expect((await discovery).best?.address).toBe(home)
})

test('a redirect is not followed', async () => {
  const entry = play(home)
  const evil = play('https://evil.example.net', { priceMicro: '1' })
  const redirects: string[] = []
  entry.listed = [listingOf(evil)]
  const world = playWorld(entry, evil)
  const fetch = async (request: Request) => {
    redirects.push(request.redirect)
    return world.fetch(request)
  }
  await discover(capability, { nodes: [home], platform: { nowMs: () => nowMs, fetch } })
  expect(new Set(redirects)).toEqual(new Set(['error']))
})

test('the price is what the 402 asks: a price of 0, a range or a 404 wins nothing', async () => {
  const entry = play(home, { priceMicro: '20000' })
  const zero = play('https://zero.example.net', { offers: [reportOf('0')] })
  zero.asksMicro = () => '90000'
  const range = play('https://range.example.net', { offers: [reportOf('1', { price_micro_max: '1000000' })] })
  range.asksMicro = () => '900000'
  const gone = play('https://gone.example.net', { offers: [reportOf('1')] })
  gone.lie = (_, path) => (path.startsWith('/v1/report') ? Response.json({}, { status: 404 }) : undefined)
  const word = play('https://word.example.net', { offers: [reportOf('0', { method: 'POST' })] })
  entry.listed = [zero, range, gone, word].map((peer) => listingOf(peer))
  const { best, found, rejected } = await look([entry, zero, range, gone, word]).discovery
  expect(best?.address).toBe(home)
  expect(found.map(({ address, priceMicro, priceProven }) => [address, priceMicro, priceProven])).toEqual([
    [home, 20_000n, true],
    [range.address, 900_000n, true],
    [word.address, 0n, false],
  ])
  expect(reasonsOf(rejected)).toMatchObject({
    [zero.address]: expect.stringContaining('price_mismatch'),
    [gone.address]: expect.stringContaining('404'),
  })
  expect(word.asked.map(({ method }) => method)).not.toContain('POST')
  const capped = await look([entry, range], { maxPriceUsd: '0.5' }).discovery
  expect(capped.found.map((node) => node.address)).toEqual([home])
})

const answerOf = (next: string, body: unknown = {}) =>
  ({
    response: Response.json(body, { headers: { 'x-x402-next': next } }),
    payment: { status: 'none' },
    verified: { status: 'verified', keyId: 'k1' },
  }) as unknown as AssayResult

async function walk(next: string, manifest: unknown, keys = new Map<string, unknown>(), nodes: PlayedPeer[] = []) {
  const sent: string[] = []
  const world = playWorld(...nodes)
  const fetch = async (url: string | URL, init: RequestInit = {}) => {
    sent.push(`${init.method ?? 'GET'} ${url} ${init.body ?? ''}`.trim())
    return sent.length === 1 ? answerOf(next, manifest) : answerOf('/')
  }
  const client = { fetch, pinnedKeys: () => keys } as unknown as Parameters<typeof followNext>[0]
  const { ended } = await followNext(client, home, {
    stepsMax: 3,
    platform: { fetch: world.fetch, nowMs: () => nowMs },
  })
  return { sent, ended }
}

test.each([
  '//evil.example.net/pay',
  'https://evil.example.net/pay',
  '/\\evil.example.net/pay',
  '/\t/evil.example.net/pay',
  'pay',
])('a next hop %j leads nowhere', async (next) => {
  const { sent, ended } = await walk(next, { offers: [] })
  expect(ended).toBe('end')
  expect(sent).toEqual([`GET ${home}/.well-known/x402`])
})

test('a manifest makes nobody send a method or body to an origin that is not its own', async () => {
  const target = play(victim)
  const offer = { capability: 'x', method: 'DELETE', url: `${victim}/orders`, input: { example: { all: true } } }
  const post = { ...offer, method: 'POST' }
  for (const one of [offer, post]) {
    const { sent } = await walk('/orders', { offers: [one] }, new Map(), [target])
    expect(sent.slice(1)).toEqual([`GET ${home}/orders`])
  }
  // A key that is called the same is another key.
  const called = new Map([['k1', { keyId: 'k1', x: 'A'.repeat(43) }]])
  const { sent } = await walk('/orders', { offers: [post] }, called, [target])
  expect(sent.slice(1)).toEqual([`GET ${home}/orders`])
})

test('a second origin of the same node is followed: it publishes the key that signed the manifest', async () => {
  const base = play('https://base.example.org', { kid: 'k1' })
  const [key] = (base.directory() as { keys: { kid: string; x: string }[] }).keys
  const keys = new Map([['k1', { keyId: 'k1', x: key?.x }]])
  const offer = { capability: 'x', method: 'POST', url: `${base.address}/orders`, input: { example: { all: true } } }
  const { sent } = await walk('/orders', { offers: [offer] }, keys, [base])
  expect(sent.slice(1)).toEqual([`POST ${base.address}/orders {"all":true}`])
})

test.each(['.', '..'])('a parameter %j does not become another route', (address) => {
  expect(() => fillIn(`${home}/v1/report/{address}`, { params: { address } })).toThrow('address')
})
