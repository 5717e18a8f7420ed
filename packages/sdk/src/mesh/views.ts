import { fromBase64url } from '@assay/protocol/base64'
import { readJsonObject } from '@assay/protocol/json-object'
import { claimedKeyId } from '@assay/protocol/mesh/statement'
import { AssayError } from '../errors.ts'
import type { Platform } from '../platform.ts'
import type { Disagreement } from './discover.ts'
import type { FetchGuard } from './fetch-guard.ts'
import type { Candidate } from './inspect-node.ts'
import { type MeshDocument, readMesh } from './read-mesh.ts'
import { untilEnough } from './until-enough.ts'

/** The mesh as one node sees it. */
export type View = { origin: string; document: MeshDocument }
type Asking = {
  capability: string
  guard: FetchGuard
  platform: Platform
  rejected: { address: string; reason: string }[]
}

const viewMsMax = 5_000
/** Nobody waits long for views that are only there to compare. */
const furtherMsMax = 1_000
const graceMs = 700
const healthGap = 0.4

/** The views of the nodes that the caller named, and of peers that these recommend, so that no single node is believed. */
export async function gatherViews(homes: readonly string[], least: number, asking: Asking): Promise<View[]> {
  const causes: unknown[] = []
  const own = await readViews(homes, asking, { onFailed: (cause) => causes.push(cause) })
  if (own.length === 0)
    throw new AssayError(
      'request_failed',
      { detail: asking.rejected.map((one) => `${one.address}: ${one.reason}`).join('; ') },
      causes[0],
    )
  const missing = least - own.length
  if (missing <= 0) return own
  const further: string[] = []
  for (const { origin, document } of own)
    for (const { address, recommended } of document.peers) {
      if (further.length >= missing * 2) break
      const known = further.includes(address) || homes.includes(address)
      if (recommended && !known && (await asking.guard.admit(address, origin))) further.push(address)
    }
  // What they do not say is no fault of theirs: they were not named by the caller.
  const limits = { msMax: furtherMsMax, enough: missing }
  return [...own, ...(await readViews(further, { ...asking, rejected: [] }, limits))]
}

function readViews(
  origins: readonly string[],
  { capability, guard, platform, rejected }: Asking,
  {
    msMax = viewMsMax,
    enough = origins.length,
    onFailed = () => {},
  }: { msMax?: number; enough?: number; onFailed?(cause: unknown): void } = {},
): Promise<View[]> {
  return untilEnough(origins, {
    ...{ platform, atOnce: Math.max(1, origins.length), enough, graceMs },
    work: async (origin, until) => {
      const document = await guard
        .within(msMax, (guarded) => readMesh(origin, { capability, platform: guarded }), until)
        .catch((error: unknown) => {
          onFailed(error)
          rejected.push({ address: origin, reason: error instanceof Error ? error.message : String(error) })
          return undefined
        })
      return document && { origin, document }
    },
  })
}

type Named = Candidate & { self: boolean }
export type Viewed = Candidate & { doubted: boolean }

/** One entry for each node, in its newest words; `doubted` where most of several views do not recommend it. */
export function compareViews(
  capability: string,
  views: readonly View[],
): { candidates: Viewed[]; disagreements: Disagreement[] } {
  const named = new Map<string, Named[]>()
  for (const view of views)
    for (const candidate of candidatesOf(view))
      named.set(candidate.address, [...(named.get(candidate.address) ?? []), candidate])
  const disagreements = [...named].flatMap(([address, said]) => compare(capability, address, said))
  const candidates = [...named.values()].map((said) => {
    const others = said.filter(({ self }) => !self)
    const against = others.filter(({ recommended }) => !recommended).length
    const [newest] = said.toSorted((a, b) => sequenceOf(b) - sequenceOf(a))
    const { self: _self, ...candidate } = newest as Named
    return { ...candidate, doubted: others.length >= 2 && against * 2 > others.length }
  })
  return { candidates, disagreements }
}

function candidatesOf({ origin, document: { node, peers } }: View): Named[] {
  const own = { address: node.address, statement: node.statement, health: undefined, recommended: true, self: true }
  const others = peers.map(({ address, statement, health, recommended }) => ({
    ...{ address, statement, health, recommended, self: false },
  }))
  // A document speaks of its own node at its own address alone.
  return [...(node.address === origin ? [own] : []), ...others].map((one) => ({ ...one, namedBy: origin }))
}

function compare(capability: string, address: string, said: readonly Named[]): Disagreement[] {
  const differing = (about: Disagreement['about'], says: (one: Named) => string): Disagreement[] => {
    const views = said.map((one) => ({ node: one.namedBy, says: says(one) }))
    return new Set(views.map((view) => view.says)).size > 1 ? [{ address, about, views }] : []
  }
  const healths = said.flatMap(({ health }) => health ?? [])
  const gap = healths.length < 2 ? 0 : Math.max(...healths) - Math.min(...healths)
  return [
    ...differing('key', ({ statement }) => claimedKeyId(statement) ?? ''),
    ...differing('price', ({ statement }) => pricesOf(capability, statement)),
    ...(gap > healthGap ? differing('health', ({ health, self }) => (self ? 'itself' : String(health ?? ''))) : []),
  ]
}

const pricesOf = (capability: string, statement: string) =>
  claimedStatement(statement)
    .offers.filter((offer) => offer.capability === capability)
    .map((offer) => `${offer.method} ${offer.price_micro}-${offer.price_micro_max ?? offer.price_micro}`)
    .sort()
    .join(', ')

const sequenceOf = ({ statement }: Named) => claimedStatement(statement).sequence

type Claimed = {
  sequence: number
  offers: { capability?: unknown; method?: unknown; price_micro?: unknown; price_micro_max?: unknown }[]
}

/** What a statement says before it is checked. */
export function claimedStatement(jws: string): Claimed {
  const { sequence, offers } = readJsonObject(fromBase64url(jws.split('.')[1] ?? '')) ?? {}
  return { sequence: Number(sequence ?? 0) || 0, offers: Array.isArray(offers) ? offers.filter((one) => one) : [] }
}
