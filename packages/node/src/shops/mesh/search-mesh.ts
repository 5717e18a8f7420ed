import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import { exampleUrlOf, offerUrl } from '@assay/protocol/mesh/statement'
import { byEvidence, weighEvidence, whyRanked } from '@assay/protocol/mesh/weigh-evidence'
import { formatUsd } from '@assay/protocol/money'
import { nameOf } from './check-prices.ts'
import type { MeshDeps } from './deps.ts'
import { type KnownCall, paidCalls } from './evidence-store.ts'
import { openKnownStatement } from './known-statements.ts'
import { searchedMax } from './limits.ts'
import { isRecommended } from './mesh-view.ts'
import { ownStatement } from './own-statement.ts'
import { groupPayers } from './payer-groups.ts'
import { type PeerRow, peersOffering } from './store.ts'

export type MeshSearch = {
  capability: string
  maxMicro?: bigint | undefined
  network?: string | undefined
  schema?: string | undefined
}

type Offering = { did: string; statement: string; content: MeshStatement; peer: PeerRow | undefined; offer: MeshOffer }

/** Everybody who offers a capability, this node included, best first: a price that was seen, then the evidence of buyers. */
export async function searchMesh(deps: MeshDeps, search: MeshSearch) {
  const { database, clock } = deps
  const [own, peers] = await Promise.all([
    ownStatement(deps),
    peersOffering(database, search.capability, clock.nowMs(), searchedMax),
  ])
  const offering = [
    ...offersIn(search, deps.self.did, own.jws, undefined),
    ...peers.flatMap((peer) => (peer.statement === undefined ? [] : offersIn(search, peer.did, peer.statement, peer))),
  ]
  const dids = [...new Set(offering.map(({ did }) => did))]
  const calls = await paidCalls(database, search.capability, dids)
  const groupOf = await groupPayers(
    deps,
    calls.map(({ payer }) => payer),
  )
  const byNode = new Map(dids.map((did) => [did, [] as KnownCall[]]))
  for (const call of calls) byNode.get(call.node)?.push(call)
  const summaries = new Map(dids.map((did) => [did, weighEvidence(byNode.get(did) ?? [], groupOf)]))
  return offering
    .map((one) => describe(one, summaries.get(one.did) ?? weighEvidence([], groupOf)))
    .filter(({ price_micro }) => search.maxMicro === undefined || BigInt(price_micro) <= search.maxMicro)
    .sort(byRank)
}

export type FoundOffer = ReturnType<typeof describe>

function offersIn(search: MeshSearch, did: string, statement: string, peer: PeerRow | undefined): Offering[] {
  const content = openKnownStatement(statement)
  return (content?.offers ?? [])
    .filter(
      ({ capability, networks = [], price_micro, schema }) =>
        capability === search.capability &&
        (search.network === undefined || price_micro === '0' || networks.includes(search.network)) &&
        (search.schema === undefined || schema === search.schema),
    )
    .map((offer) => ({ did, statement, content: content as MeshStatement, peer, offer }))
}

function describe({ did, statement, content, peer, offer }: Offering, evidence: ReturnType<typeof weighEvidence>) {
  const asked = peer === undefined ? offer.price_micro : peer.askedMicro[nameOf(offer)]
  const seen = asked !== undefined
  const price_micro = asked ?? offer.price_micro
  const price_usd = formatUsd(BigInt(price_micro))
  return {
    did,
    address: content.address,
    method: offer.method,
    url: offerUrl(content, offer),
    example_url: exampleUrlOf(content, offer),
    price_micro,
    price_usd,
    price_seen: seen,
    networks: offer.networks ?? [],
    schema: offer.schema ?? null,
    recommended: peer === undefined || isRecommended(peer),
    health: peer === undefined ? null : Number(peer.health.toFixed(3)),
    latency_ms: peer?.latencyMs === undefined ? null : Number(peer.latencyMs.toFixed(1)),
    evidence,
    why: whyRanked(price_usd, seen, evidence),
    statement,
  }
}

function byRank(a: FoundOffer, b: FoundOffer): number {
  if (a.recommended !== b.recommended) return a.recommended ? -1 : 1
  if (a.price_seen !== b.price_seen) return a.price_seen ? -1 : 1
  const ranked = ({ price_micro, evidence }: FoundOffer) => ({ priceMicro: BigInt(price_micro), evidence })
  return byEvidence(ranked(a), ranked(b)) || (b.health ?? 1) - (a.health ?? 1) || (a.did < b.did ? -1 : 1)
}
