import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { didKeyUrl } from '@assay/protocol/did'
import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import { exampleUrlOf, offerUrl } from '@assay/protocol/mesh/statement'
import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { sample } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import {
  announcePath,
  changedBytesMax,
  changedMax,
  meshPath,
  meshProtocol,
  pageBytesMax,
  relayedMax,
} from './limits.ts'
import type { MeshView, SeenPeer } from './mesh-view.ts'
import { changedPeers } from './store.ts'

export type MeshQuery = {
  view?: 'full' | 'brief' | undefined
  capability?: string | undefined
  page?: number | undefined
  since?: number | undefined
}

/** Statements that changed since a reader was here last, and up to when. */
export type Changes = {
  changed: readonly { did: string; address: string; sequence: number; statement: string }[]
  untilMs: number
}

/**
 * A page of the mesh manifest: this node and the peers it has seen, each in its own signed words, signed as a whole.
 * Undefined where there is no such page.
 */
export function describeMesh(deps: MeshDeps, view: MeshView, query: MeshQuery, changes?: Changes): string | undefined {
  const { self, clock } = deps
  const brief = query.view === 'brief'
  const { own } = view
  const fitting = view.peers.filter(
    (peer) => offersOf(peer.content, query).length > 0 || query.capability === undefined,
  )
  const pages = pagesOf(brief ? withSample(deps, fitting) : fitting, (peer) =>
    brief ? briefPeer(peer) : fullPeer(peer, query),
  )
  const page = query.page ?? 1
  const peers = pages[page - 1]
  if (peers === undefined) return undefined
  const document: Json = {
    protocol: meshProtocol,
    generated_at: toRfc3339(clock.nowMs()),
    node: {
      did: self.did,
      address: self.origin,
      base_url: self.baseUrl,
      name: self.name,
      sequence: own.statement.sequence,
      statement: own.jws,
      ...(brief ? {} : { resources: resourcesOf(own.statement, query) }),
    },
    peers,
    ...(changes === undefined
      ? {}
      : {
          ...{ changed: [...changes.changed], changed_until: changes.untilMs, silent: [...view.silent] },
          ...{ evidence_until: view.evidenceUntilMs, agents_until: view.agentsUntilMs },
        }),
    next_page: page < pages.length ? `${self.origin}${meshPath}?${queryText({ ...query, page: page + 1 })}` : null,
    links: {
      manifest: `${self.origin}/.well-known/x402`,
      mesh: `${self.origin}${meshPath}`,
      announce: `${self.origin}${announcePath}`,
    },
  }
  return signDocument(deps, document)
}

const alwaysNamed = 32

/** After the first peers, each reader gets another random sample, so that every peer is named to somebody. */
function withSample({ rng }: MeshDeps, peers: readonly SeenPeer[]): SeenPeer[] {
  if (peers.length <= relayedMax) return [...peers]
  return [...peers.slice(0, alwaysNamed), ...sample(peers.slice(alwaysNamed), peers.length, rng)]
}

/** As many of what changed as one answer has room for. */
async function readChanges({ database, clock }: MeshDeps, sinceMs: number): Promise<Changes> {
  const nowMs = clock.nowMs()
  const rows = await changedPeers(database, { sinceMs, nowMs, limit: changedMax })
  let bytes = 0
  const fitting = rows.filter(({ statement }) => {
    bytes += statement.length
    return bytes <= changedBytesMax
  })
  return {
    changed: fitting.map(({ did, address, sequence, statement }) => ({ did, address, sequence, statement })),
    untilMs: Math.max(sinceMs, ...fitting.map(({ changedMs }) => changedMs)),
  }
}

function queryText(query: MeshQuery): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) text.set(name, String(value))
  return text.toString()
}

/** As many on a page as fit; the first page is there even if it is empty. */
function pagesOf(peers: readonly SeenPeer[], describe: (peer: SeenPeer) => Json): Json[][] {
  const pages: Json[][] = [[]]
  let bytes = 0
  for (const entry of peers.map(describe)) {
    const size = JSON.stringify(entry).length
    const current = pages.at(-1) ?? []
    if (current.length > 0 && (current.length >= relayedMax || bytes + size > pageBytesMax)) {
      pages.push([entry])
      bytes = size
    } else {
      current.push(entry)
      bytes += size
    }
  }
  return pages
}

const documentsMax = 64
const briefsMs = 10_000

/** What a brief document is made of. */
const briefly = ({ own, peers, silent, evidenceUntilMs, agentsUntilMs }: MeshView) =>
  [own.jws, ...peers.map(({ did, sequence }) => `${did} ${sequence}`), ...silent, evidenceUntilMs, agentsUntilMs].join()

/**
 * Documents are made and signed once for each question while a view lasts, brief ones as long as nothing of them changes:
 * most readers know the same changes.
 */
export function createMeshDocuments(deps: MeshDeps) {
  const briefs = keepDocuments((view) => `${Math.floor(view.readAtMs / briefsMs)} ${briefly(view)}`)
  const others = keepDocuments((view) => view)
  const make = async (view: MeshView, query: MeshQuery) => {
    const { since } = query
    return describeMesh(deps, view, query, since === undefined ? undefined : await readChanges(deps, since))
  }
  return (view: MeshView, { since, ...asked }: MeshQuery): Promise<string | undefined> => {
    const brief = asked.view === 'brief'
    const query = brief ? { ...asked, since } : asked
    return (brief ? briefs : others)(view, queryText(query), () => make(view, query))
  }
}

function keepDocuments(contentOf: (view: MeshView) => unknown) {
  let latest: MeshView | undefined
  let content: unknown
  const kept = new Map<string, Promise<string | undefined>>()
  return (view: MeshView, key: string, make: () => Promise<string | undefined>) => {
    const now = view === latest ? content : contentOf(view)
    if (now !== content || kept.size >= documentsMax) kept.clear()
    latest = view
    content = now
    const known = kept.get(key) ?? make()
    kept.set(key, known)
    known.catch(() => kept.delete(key))
    return known
  }
}

const briefPeer = ({ did, address, sequence }: SeenPeer): Json => ({ did, address, sequence })

function fullPeer(peer: SeenPeer, query: MeshQuery): Json {
  const { content } = peer
  return {
    did: peer.did,
    address: peer.address,
    base_url: content.base_url,
    name: content.name,
    state: peer.state,
    health: round(peer.health, 3),
    latency_ms: peer.latencyMs === undefined ? null : round(peer.latencyMs, 1),
    last_seen_at: peer.lastSeenAtMs === undefined ? null : toRfc3339(peer.lastSeenAtMs),
    sequence: peer.sequence,
    expires_at: content.expires_at,
    recommended: peer.recommended,
    price_mismatch: peer.priceMismatches.length > 0,
    price_mismatches: peer.priceMismatches as unknown as Json,
    resources: resourcesOf(content, query),
    statement: peer.statement,
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

function offersOf({ offers }: MeshStatement, { capability }: MeshQuery): readonly MeshOffer[] {
  return capability === undefined ? offers : offers.filter((offer) => offer.capability === capability)
}

/** By capability, as far as they are asked for. */
function resourcesOf(statement: MeshStatement, query: MeshQuery): Json {
  const resources: Record<string, Json[]> = {}
  for (const offer of offersOf(statement, query)) {
    resources[offer.capability] ??= []
    resources[offer.capability]?.push({
      method: offer.method,
      url: offerUrl(statement, offer),
      example: exampleUrlOf(statement, offer),
      price_micro: offer.price_micro,
      price_usd: formatUsd(BigInt(offer.price_micro)),
      ...(offer.price_micro_max === undefined ? {} : { price_micro_max: offer.price_micro_max }),
      networks: offer.networks ?? [],
    })
  }
  return resources
}

/** Ed25519 over the canonical JSON of everything but `signature`, so that the document can be kept and passed on. */
function signDocument({ signer, self }: MeshDeps, document: { readonly [key: string]: Json | undefined }): string {
  const { signature, keyId } = signer.signBytes(Buffer.from(canonicalJson(document)))
  const kid = didKeyUrl(new URL(self.origin).host, keyId)
  return canonicalJson({
    ...document,
    signature: { alg: 'EdDSA', kid, value: Buffer.from(signature).toString('base64url') },
  })
}
