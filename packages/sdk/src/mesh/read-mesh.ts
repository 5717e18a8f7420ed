import { fromBase64url } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { didWeb } from '@assay/protocol/did'
import { verifyEd25519 } from '@assay/protocol/ed25519'
import { isRecord } from '@assay/protocol/json-object'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import { readLimited } from '@assay/protocol/read-limited'
import { AssayError } from '../errors.ts'
import { fetchDirectory } from '../key-pins.ts'
import { defaultPlatform, type Platform } from '../platform.ts'

/** A peer as another node describes it. Only `statement` is the peer's own word. */
export type MeshPeer = {
  did: string
  address: string
  state: string
  health: number | undefined
  latencyMs: number | undefined
  lastSeenAt: string | undefined
  recommended: boolean
  priceMismatch: boolean
  statement: string
}

export type MeshDocument = {
  protocol: string
  generatedAt: string
  node: { did: string; address: string; statement: string }
  peers: readonly MeshPeer[]
}

type MeshPlatform = Pick<Platform, 'fetch' | 'nowMs' | 'timeout'>

const documentBytesMax = 524_288
const pagesMax = 16
const peersMax = 256
const documentAgeMsMax = 300_000
const answerMsMax = 10_000

/** The mesh as one node sees it, signed by that node; throws when it is not. */
export async function readMesh(
  address: string,
  options: { capability?: string; platform?: Partial<Platform> } = {},
): Promise<MeshDocument> {
  const platform = { ...defaultPlatform, ...options.platform }
  const query = options.capability === undefined ? '' : `?capability=${encodeURIComponent(options.capability)}`
  const first = await readPage(`${address}/x402/mesh${query}`, address, platform)
  const peers = new Map(first.document.peers.map((peer) => [peer.did, peer]))
  let { next } = first
  for (let page = 1; page < pagesMax && next !== undefined; page += 1) {
    // What the first page says stays good without the later ones.
    const read: Page | undefined = await readPage(next, address, platform).catch(() => undefined)
    for (const peer of read?.document.peers ?? []) if (!peers.has(peer.did)) peers.set(peer.did, peer)
    next = read?.next
  }
  return { ...first.document, peers: [...peers.values()].slice(0, peersMax) }
}

type Page = { document: MeshDocument; next: string | undefined }

async function readPage(url: string, address: string, platform: Platform): Promise<Page> {
  const value = await fetchMeshJson(url, platform)
  const document = isRecord(value) ? parseDocument(value) : undefined
  if (!isRecord(value) || document === undefined) throw failed(`${address} has no mesh document`)
  await requireSigned(address, value, platform)
  const ageMs = platform.nowMs() - Date.parse(document.generatedAt)
  if (!(ageMs < documentAgeMsMax)) throw failed(`the mesh document of ${address} is old`)
  const { next_page: next } = value
  return { document, next: typeof next === 'string' && next.startsWith(`${address}/x402/mesh?`) ? next : undefined }
}

async function requireSigned(address: string, value: Record<string, unknown>, platform: Platform): Promise<void> {
  const { signature, ...signed } = value
  const text = tryCanonicalJson(signed)
  const { kid, value: base64 } = isRecord(signature) ? signature : {}
  const { keys } = readDirectory(await fetchDirectory(address, platform))
  const now = platform.nowMs() / 1000
  const key = keys.find(
    ({ keyId, notAfter }) =>
      kid === `${didWeb(new URL(address).host)}#${keyId}` && (notAfter === undefined || notAfter > now),
  )
  const bytes = typeof base64 === 'string' ? fromBase64url(base64) : undefined
  const good = key && bytes && text !== undefined && (await verifyEd25519(key.x, utf8(text), bytes))
  if (!good)
    throw new AssayError('signature_invalid', { detail: `the mesh document of ${address} is not signed by it` })
}

export async function fetchMeshJson(url: string, platform: MeshPlatform): Promise<unknown> {
  const limit = platform.timeout(answerMsMax)
  try {
    const response = await platform.fetch(new Request(url, { redirect: 'error', signal: limit.signal }))
    const bytes = await readLimited(response.body, documentBytesMax)
    if (response.status !== 200 || bytes === 'too_large') throw new Error(`status ${response.status}`)
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new AssayError('request_failed', { detail: url }, error)
  } finally {
    limit.clear()
  }
}

const failed = (detail: string) => new AssayError('request_failed', { detail })

function parseDocument(value: Record<string, unknown>): MeshDocument | undefined {
  const { protocol, generated_at: generatedAt, node, peers } = value
  if (typeof protocol !== 'string' || typeof generatedAt !== 'string' || !isRecord(node) || !Array.isArray(peers))
    return undefined
  const { did, address, statement } = node
  if (typeof did !== 'string' || typeof address !== 'string' || typeof statement !== 'string') return undefined
  return {
    protocol,
    generatedAt,
    node: { did, address, statement },
    peers: peers.slice(0, peersMax).flatMap(parsePeer),
  }
}

function parsePeer(value: unknown): MeshPeer[] {
  if (!isRecord(value)) return []
  const { did, address, state, health, latency_ms: latency, last_seen_at: seen, statement } = value
  if (typeof did !== 'string' || typeof address !== 'string' || typeof statement !== 'string') return []
  if (!URL.canParse(address) || new URL(address).origin !== address || did !== didWeb(new URL(address).host)) return []
  return [
    {
      did,
      address,
      state: typeof state === 'string' ? state : 'unknown',
      health: typeof health === 'number' ? health : undefined,
      latencyMs: typeof latency === 'number' ? latency : undefined,
      lastSeenAt: typeof seen === 'string' ? seen : undefined,
      recommended: value.recommended === true,
      priceMismatch: value.price_mismatch === true,
      statement,
    },
  ]
}
