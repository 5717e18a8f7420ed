import {
  listingOf as listed,
  type PlayedPeer,
  type PlayedPeerOptions,
  playPeer,
  playWorld,
} from '@assay/protocol/mesh/hostile-peer.fixture'
import { expect, test } from 'vitest'
import type { AssayResult } from '../context.ts'
import { discover } from './discover.ts'
import { followNext, linkNext } from './follow-next.ts'

const nowMs = 1_800_000_000_000
const capability = 'token.control.report'
const createNode = (address: string, options: PlayedPeerOptions = {}) =>
  playPeer(address, { nowMs: () => nowMs, ...options })
const platformOf = (...nodes: PlayedPeer[]) => ({ nowMs: () => nowMs, fetch: playWorld(...nodes).fetch })

test('the cheapest honest node is found; those that lie, fake or are ill are left out with a reason', async () => {
  const entry = createNode('https://entry.example.org', { priceMicro: '50000' })
  const cheap = createNode('https://cheap.example.org', { priceMicro: '10000' })
  const liar = createNode('https://liar.example.org', { priceMicro: '1' })
  liar.asksMicro = () => '90000'
  const ill = createNode('https://ill.example.org', { priceMicro: '5' })
  const gone = createNode('https://gone.example.org', { priceMicro: '2' })
  const faked = createNode('https://faked.example.org', { priceMicro: '3' })
  const onMachine = createNode('http://127.0.0.1:9999', { priceMicro: '1' })
  entry.listed = [
    listed(cheap),
    listed(liar),
    listed(ill, { health: 0.2 }),
    listed(gone),
    { ...listed(faked), statement: cheap.statement() },
    listed(onMachine),
    { did: 'did:web:other', address: cheap.address, statement: cheap.statement() },
  ]
  const platform = platformOf(entry, cheap, liar, ill, faked, onMachine)
  const { best, found, rejected } = await discover(capability, { nodes: [entry.address], platform })
  expect(best).toMatchObject({ address: cheap.address, priceUsd: '0.01', url: `${cheap.address}/v1/report/{address}` })
  expect(found.map((node) => node.address)).toEqual([cheap.address, entry.address])
  const reasons = Object.fromEntries(rejected.map((one) => [one.address, one.reason]))
  expect(reasons).toMatchObject({
    [liar.address]: expect.stringContaining('price_mismatch'),
    [ill.address]: 'health 0.2',
    [gone.address]: expect.any(String),
    [faked.address]: expect.stringContaining('not signed by a key'),
  })
  expect(reasons[onMachine.address]).toContain('may not be asked')
  const dear = await discover(capability, { nodes: [entry.address], maxPriceUsd: '0.000001', platform })
  expect(dear.best).toBeUndefined()
  const other = await discover(capability, { nodes: [entry.address], networks: ['eip155:137'], platform })
  expect(other.best).toBeUndefined()
})

test('a document that its node did not sign is not read, and without any other nothing is found', async () => {
  const entry = createNode('https://entry.example.org')
  entry.lie = (_, path) =>
    path.startsWith('/x402/mesh')
      ? Response.json({
          protocol: '1.0.4',
          generated_at: new Date(nowMs).toISOString(),
          node: { did: entry.did, address: entry.address, statement: entry.statement() },
          peers: [],
        })
      : undefined
  await expect(discover(capability, { nodes: [entry.address], platform: platformOf(entry) })).rejects.toMatchObject({
    code: 'request_failed',
  })
})

const answerOf = (next: string, body: unknown = {}, status = 200) =>
  ({
    response: Response.json(body, { status, headers: { 'x-x402-next': next } }),
    payment: { status: 'none' },
  }) as unknown as AssayResult

test('hops that lead in a circle end the walk, and so do a refusal and a limit', async () => {
  const asked: string[] = []
  const walk = (next: (path: string) => AssayResult) =>
    followNext(
      {
        fetch: async (url) => {
          const { pathname } = new URL(url)
          asked.push(pathname)
          return next(pathname)
        },
      },
      'https://node.example.org',
      { stepsMax: 5 },
    )
  const circle: Record<string, string> = { '/.well-known/x402': '/a', '/a': '/b', '/b': '/a' }
  expect((await walk((path) => answerOf(circle[path] ?? '/'))).ended).toBe('loop')
  expect(asked).toEqual(['/.well-known/x402', '/a', '/b'])
  expect((await walk(() => answerOf('/.well-known/x402'))).ended).toBe('loop')
  expect((await walk(() => answerOf('/', {}, 404))).ended).toBe('refused')
  expect((await walk(() => answerOf(`/${asked.length}`))).steps).toHaveLength(5)
})

test('a path that the first page of the manifest does not name is looked for on the next, of the same node only', async () => {
  const home = 'https://node.example.org'
  const offer = { capability: 'late.report', method: 'POST', url: `${home}/late`, input: {} }
  const walk = (nextPage: string) =>
    followNext(
      {
        fetch: async (url) => {
          const asked = new URL(url)
          if (asked.pathname === '/late') return answerOf('/')
          if (asked.search !== '') return answerOf('/', { offers: [offer], next_page: null })
          return answerOf('/late', { offers: [], next_page: nextPage })
        },
      },
      home,
    )
  const followed = await walk(`${home}/.well-known/x402?page=2`)
  expect(followed.steps.at(-1)).toMatchObject({ capability: 'late.report', method: 'POST' })
  const stayed = await walk('https://elsewhere.example.org/.well-known/x402?page=2')
  expect(stayed.steps.at(-1)).toMatchObject({ capability: undefined, method: 'GET' })
})

test('the next link is found among others', () => {
  expect(linkNext('</openapi.json>; rel="service-desc", <https://a.example/x>; rel="next"')).toBe('https://a.example/x')
  expect(linkNext('</openapi.json>; rel="service-desc"')).toBeUndefined()
  expect(linkNext(null)).toBeUndefined()
})
