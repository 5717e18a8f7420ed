import { generateKeyPairSync, sign } from 'node:crypto'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { didWeb } from '@assay/protocol/did'
import { encodeHeader } from '@assay/protocol/json-object'
import { expect, test } from 'vitest'
import type { AssayResult } from '../context.ts'
import { discover } from './discover.ts'
import { followNext, linkNext } from './follow-next.ts'

const nowMs = 1_800_000_000_000
const at = (ms: number) => new Date(nowMs + ms).toISOString()

/** A node of the mesh in memory, honest unless a test bends it. */
function createNode(address: string, options: { statedMicro?: string; asksMicro?: string; keyOf?: string } = {}) {
  const { statedMicro = '20000', asksMicro = statedMicro } = options
  const key = generateKeyPairSync('ed25519')
  const did = didWeb(new URL(address).host)
  const kid = `${did}#k1`
  const encode = (value: unknown) => Buffer.from(tryCanonicalJson(value) ?? '').toString('base64url')
  const content = {
    protocol: '1.0.4',
    did,
    address,
    base_url: address,
    name: 'Test',
    sequence: 1,
    issued_at: at(-1_000),
    expires_at: at(60_000),
    networks: [],
    offers: [
      {
        capability: 'a.report',
        method: 'GET',
        path: '/r/{id}',
        example: '/r/1',
        price_micro: statedMicro,
        networks: ['eip155:8453'],
      },
    ],
  }
  const head = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'x402-mesh+jws', kid })).toString('base64url')
  const statementOf = (value: unknown) => {
    const input = `${head}.${encode(value)}`
    return `${input}.${sign(null, Buffer.from(input), key.privateKey).toString('base64url')}`
  }
  const required = {
    x402Version: 2,
    resource: { url: `${address}/r/1` },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: asksMicro,
        asset: `0x${'1'.repeat(40)}`,
        payTo: `0x${'2'.repeat(40)}`,
        maxTimeoutSeconds: 60,
      },
    ],
  }
  const node = {
    address,
    did,
    content,
    statementOf,
    statement: statementOf(content),
    directory: {
      keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'k1', x: key.publicKey.export({ format: 'jwk' }).x, nbf: 0 }],
    },
    peers: [] as Record<string, unknown>[],
    answer: (path: string): Response => {
      if (path === '/.well-known/http-message-signatures-directory') return Response.json(node.directory)
      if (path === '/r/1')
        return new Response('{}', { status: 402, headers: { 'payment-required': encodeHeader(required) } })
      if (path !== '/x402/mesh') return new Response('{}', { status: 404 })
      const document = {
        protocol: '1.0.4',
        generated_at: at(0),
        node: { did, address, statement: node.statement },
        peers: node.peers,
      }
      const value = sign(null, Buffer.from(tryCanonicalJson(document) ?? ''), key.privateKey).toString('base64url')
      return Response.json({ ...document, signature: { alg: 'EdDSA', kid, value } })
    },
  }
  return node
}

type TestNode = ReturnType<typeof createNode>
const listed = (node: TestNode, health = 1) => ({
  did: node.did,
  address: node.address,
  state: 'alive',
  health,
  recommended: true,
  price_mismatch: false,
  statement: node.statement,
})

function platformOf(...nodes: TestNode[]) {
  return {
    nowMs: () => nowMs,
    fetch: async (request: Request) => {
      const { origin, pathname } = new URL(request.url)
      const node = nodes.find((one) => one.address === origin)
      if (node === undefined) throw new TypeError('nobody there')
      return node.answer(pathname)
    },
  }
}

test('the cheapest honest node is found; those that lie, fake or are ill are left out with a reason', async () => {
  const entry = createNode('https://entry.example.org', { statedMicro: '50000' })
  const cheap = createNode('https://cheap.example.org', { statedMicro: '10000' })
  const liar = createNode('https://liar.example.org', { statedMicro: '1', asksMicro: '90000' })
  const ill = createNode('https://ill.example.org', { statedMicro: '5' })
  const gone = createNode('https://gone.example.org', { statedMicro: '2' })
  const faked = createNode('https://faked.example.org', { statedMicro: '3' })
  const onMachine = createNode('http://127.0.0.1:9999', { statedMicro: '1' })
  entry.peers = [
    listed(cheap),
    listed(liar),
    listed(ill, 0.2),
    listed(gone),
    { ...listed(faked), statement: cheap.statement },
    listed(onMachine),
    { did: 'did:web:other', address: cheap.address, statement: cheap.statement },
  ]
  const platform = platformOf(entry, cheap, liar, ill, faked, onMachine)
  const { best, found, rejected } = await discover('a.report', { nodes: [entry.address], platform })
  expect(best).toMatchObject({ address: cheap.address, priceUsd: '0.01', url: `${cheap.address}/r/{id}` })
  expect(found.map((node) => node.address)).toEqual([cheap.address, entry.address])
  const reasons = Object.fromEntries(rejected.map((one) => [one.address, one.reason]))
  expect(reasons).toMatchObject({
    [liar.address]: expect.stringContaining('price_mismatch'),
    [ill.address]: 'health 0.2',
    [gone.address]: expect.any(String),
    [faked.address]: expect.stringContaining('not signed by a key'),
  })
  expect(reasons[onMachine.address]).toBeUndefined()
  const dear = await discover('a.report', { nodes: [entry.address], maxPriceUsd: '0.000001', platform })
  expect(dear.best).toBeUndefined()
  const other = await discover('a.report', { nodes: [entry.address], networks: ['eip155:137'], platform })
  expect(other.best).toBeUndefined()
})

test('a document that its node did not sign is not read, and without any other nothing is found', async () => {
  const entry = createNode('https://entry.example.org')
  const { answer } = entry
  entry.answer = (path) =>
    path === '/x402/mesh'
      ? Response.json({
          protocol: '1.0.4',
          generated_at: at(0),
          node: { did: entry.did, address: entry.address, statement: entry.statement },
          peers: [],
        })
      : answer(path)
  await expect(discover('a.report', { nodes: [entry.address], platform: platformOf(entry) })).rejects.toMatchObject({
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
