import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { tryCanonicalJson } from '../canonical-json.ts'
import { didWeb } from '../did.ts'
import { encodeHeader } from '../json-object.ts'
import { contentDigest, signatureBase } from '../signatures/signature-base.ts'
import type { MeshOffer, MeshStatement } from './read-statement.ts'

const directoryPath = '/.well-known/http-message-signatures-directory'

export const reportOf = (priceMicro: string, change: Partial<MeshOffer> = {}): MeshOffer => ({
  capability: 'token.control.report',
  method: 'GET',
  path: '/v1/report/{address}',
  example: '/v1/report/0x1',
  price_micro: priceMicro,
  networks: ['eip155:8453'],
  ...change,
})

export type PlayedPeerOptions = {
  nowMs?: () => number
  priceMicro?: string
  offers?: readonly MeshOffer[]
  /** Names of keys are free to choose. */
  kid?: string
}

/** A node of the mesh as others see it on the wire: honest as it comes, and every part of it can be made to lie. */
export type PlayedPeer = {
  address: string
  did: string
  kid: string
  /** What its statement says; `sequence` and times are set for each statement. */
  content: Omit<MeshStatement, 'sequence' | 'issued_at' | 'expires_at'>
  sequence: number
  /** What its 402 asks, by request. */
  asksMicro(request: Request): string
  /** Whether its 402s bear a signature. */
  signs402: boolean
  /** Peers of its mesh document. */
  listed: Record<string, unknown>[]
  /** Headers of every answer. */
  headers: Record<string, string>
  manifest: unknown
  asked: { method: string; path: string; userAgent: string; body: string }[]
  /** A lie for this request; undefined is the honest answer. */
  lie(request: Request, path: string): Response | Promise<Response> | undefined
  /** Its statement, signed with its own key whatever it says; unchanged, it is the one of before while it lasts. */
  statement(change?: Partial<MeshStatement>): string
  directory(): unknown
  /** A receipt that it signs for a paid call. */
  receipt(payer: string, path: string): string
  /** What it serves as evidence of buyers. */
  evidence: unknown[]
  respond(request: Request): Promise<Response>
}

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url')

type Key = ReturnType<typeof createKey>

function createKey(name?: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    kid: name ?? `k${base64url(publicKey.export({ format: 'der', type: 'spki' }).subarray(-9))}`,
    x: publicKey.export({ format: 'jwk' }).x,
    sign: (text: string, encoding: BufferEncoding = 'utf8') => sign(null, Buffer.from(text, encoding), privateKey),
  }
}

function jwsOf(key: Key, header: object, payload: string): string {
  const input = `${base64url(JSON.stringify(header))}.${base64url(payload)}`
  return `${input}.${base64url(key.sign(input))}`
}

export function playPeer(address: string, options: PlayedPeerOptions = {}): PlayedPeer {
  const { nowMs = Date.now, priceMicro = '20000' } = options
  const key = createKey(options.kid)
  const { kid } = key
  const did = didWeb(new URL(address).host)
  const at = (ms: number) => new Date(nowMs() + ms).toISOString()
  let kept: { jws: string; content: unknown; sequence: number; untilMs: number } | undefined
  const peer: PlayedPeer = {
    address,
    did,
    kid,
    content: {
      protocol: '1.0.4',
      did,
      address,
      base_url: address,
      name: 'Peer',
      networks: [],
      offers: [...(options.offers ?? [reportOf(priceMicro)])],
    },
    sequence: nowMs(),
    asksMicro: () => priceMicro,
    signs402: true,
    listed: [],
    headers: {},
    manifest: { offers: [], next_page: null },
    asked: [],
    evidence: [],
    lie: () => undefined,
    statement: (change) => {
      if (
        change === undefined &&
        kept !== undefined &&
        kept.content === peer.content &&
        kept.sequence === peer.sequence
      )
        if (nowMs() < kept.untilMs) return kept.jws
        else peer.sequence = nowMs()
      const times = { issued_at: at(0), expires_at: at(600_000) }
      const body = tryCanonicalJson({ ...peer.content, sequence: peer.sequence, ...times, ...change }) ?? ''
      const jws = jwsOf(key, { alg: 'EdDSA', typ: 'x402-mesh+jws', kid: `${did}#${kid}` }, body)
      if (change === undefined)
        kept = { jws, content: peer.content, sequence: peer.sequence, untilMs: nowMs() + 300_000 }
      return jws
    },
    directory: () => ({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid, x: key.x, nbf: 0 }] }),
    receipt: (payer, path) => {
      const bought = { version: 1, network: 'eip155:8453', resourceUrl: `${address}${path}`, payer }
      const body = JSON.stringify({ ...bought, issuedAt: Math.floor(nowMs() / 1000) })
      return jwsOf(key, { alg: 'EdDSA', kid: `${did}#${kid}` }, body)
    },
    respond: async (request) => {
      const { pathname, search } = new URL(request.url)
      const path = `${pathname}${search}`
      const userAgent = request.headers.get('user-agent') ?? ''
      peer.asked.push({ method: request.method, path, userAgent, body: await request.clone().text() })
      const answer = (await peer.lie(request, path)) ?? honest(request, pathname)
      for (const [name, value] of Object.entries(peer.headers)) answer.headers.set(name, value)
      return answer
    },
  }
  const honest = (request: Request, path: string): Response => {
    if (path === directoryPath) return Response.json(peer.directory())
    if (path === '/x402/mesh') return Response.json(meshDocument())
    if (path === '/.well-known/x402') return Response.json(peer.manifest)
    if (path === '/x402/mesh/announce') return Response.json({})
    if (path === '/x402/mesh/evidence') return Response.json({ data: peer.evidence, until_ms: nowMs() })
    const offered = peer.content.offers.find((offer) => (offer.example ?? offer.path).split('?')[0] === path)
    if (offered === undefined) return Response.json({}, { status: 404 })
    return challenge(peer, key, request, nowMs())
  }
  const meshDocument = () => {
    const node = { did, address, sequence: peer.sequence, statement: peer.statement() }
    const document = { protocol: '1.0.4', generated_at: at(0), node, peers: peer.listed }
    const value = base64url(key.sign(tryCanonicalJson(document) ?? ''))
    return { ...document, signature: { alg: 'EdDSA', kid: `${did}#${kid}`, value } }
  }
  return peer
}

function challenge(peer: PlayedPeer, key: Key, request: Request, nowMs: number): Response {
  const amount = peer.asksMicro(request)
  if (amount === '0') return Response.json({})
  const terms = { network: 'eip155:8453', asset: `0x${'1'.repeat(40)}`, payTo: `0x${'2'.repeat(40)}` }
  const accepts = [{ scheme: 'exact', amount, maxTimeoutSeconds: 60, ...terms }]
  const required = { x402Version: 2, resource: { url: request.url }, accepts }
  const header = encodeHeader(required)
  const signature = peer.signs402 ? signed402(key, request, header, nowMs) : {}
  const headers = { 'content-type': 'application/json', 'payment-required': header, ...signature }
  return new Response('{}', { status: 402, headers })
}

/** RFC 9421, as nodes sign their answers. */
function signed402(key: Key, request: Request, header: string, nowMs: number) {
  const { host, pathname, search } = new URL(request.url)
  const digest = contentDigest(createHash('sha256').update('{}').digest())
  const parts = [
    { id: '"@status"', value: '402' },
    { id: '"content-digest"', value: digest },
    { id: '"content-type"', value: 'application/json' },
    { id: '"payment-required"', value: header },
    { id: '"@method";req', value: request.method },
    { id: '"@authority";req', value: host },
    { id: '"@path";req', value: pathname },
    { id: '"@query";req', value: search === '' ? '?' : search },
  ]
  const created = Math.floor(nowMs / 1000)
  const inner = `(${parts.map(({ id }) => id).join(' ')});created=${created};expires=${created + 300};keyid="${key.kid}";alg="ed25519";tag="x402-response"`
  const signature = key.sign(signatureBase(parts, inner), 'latin1').toString('base64')
  return { 'content-digest': digest, 'signature-input': `sig=${inner}`, signature: `sig=:${signature}:` }
}

/** How another node lists it. */
export const listingOf = (peer: PlayedPeer, change: Record<string, unknown> = {}) => ({
  did: peer.did,
  address: peer.address,
  sequence: peer.sequence,
  state: 'alive',
  health: 1,
  recommended: true,
  price_mismatch: false,
  statement: peer.statement(),
  ...change,
})

/** Never answers; ends with the request's own signal alone. */
export const hang = (request: Request): Promise<Response> =>
  new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)))

/** A world of such nodes: a node that is not in it does not exist, and every request is noted. */
export function playWorld(...peers: PlayedPeer[]) {
  const reached: string[] = []
  return {
    reached,
    add: (...more: PlayedPeer[]) => void peers.push(...more),
    fetch: async (request: Request): Promise<Response> => {
      reached.push(`${request.method} ${request.url}`)
      const peer = peers.find((one) => one.address === new URL(request.url).origin)
      if (peer === undefined) throw new TypeError('nobody there')
      return peer.respond(request)
    },
  }
}
