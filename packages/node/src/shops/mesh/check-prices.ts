import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import { exampleUrlOf, keySetOf, type PeerKey } from '@assay/protocol/mesh/statement'
import { verifyResponse } from '@assay/protocol/signatures/verify-response'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import type { MeshDeps } from './deps.ts'
import { openKnownStatement } from './known-statements.ts'
import { manifestBytesMax, manifestPath } from './limits.ts'
import { fetchJson } from './peer-fetcher.ts'
import { type PeerRow, type PriceMismatch, savePrices } from './store.ts'

const samplesMax = 3
const mismatchesMax = 16
const probeBytesMax = 65_536
const paymentHeaderCharsMax = 16_384

/** Compares what a peer says it asks with what its manifest says and with what it really asks, a few offers at a time. */
export async function checkPrices(deps: MeshDeps, peer: PeerRow, signal: AbortSignal): Promise<PriceMismatch[]> {
  const statement = peer.statement === undefined ? undefined : openKnownStatement(peer.statement)
  if (statement === undefined) return []
  const doubted = new Set(peer.priceMismatches.map(nameOf))
  const sampled = sample(deps, statement.offers, doubted)
  const found = new Map(
    peer.priceMismatches
      .filter((known) => statement.offers.some((offer) => nameOf(offer) === nameOf(known)))
      .map((known) => [nameOf(known), known]),
  )
  const asked = new Map(
    Object.entries(peer.askedMicro).filter(([name]) => statement.offers.some((offer) => nameOf(offer) === name)),
  )
  for (const offer of sampled) {
    const verdict = await probeOffer(deps, { statement, keys: peer.keys }, offer, signal)
    if (verdict === 'unknown') continue
    found.delete(nameOf(offer))
    asked.delete(nameOf(offer))
    if (verdict.status === 'fits') asked.set(nameOf(offer), verdict.askedMicro)
    else found.set(nameOf(offer), mismatch(deps, offer, verdict))
  }
  for (const differing of await manifestMismatches(deps, statement, signal))
    if (!found.has(nameOf(differing))) found.set(nameOf(differing), differing)
  if (signal.aborted) return [...peer.priceMismatches]
  const mismatches = [...found.values()].slice(0, mismatchesMax)
  await savePrices(deps.database, peer.did, { mismatches, askedMicro: Object.fromEntries(asked) })
  if (mismatches.length > 0) {
    deps.metrics.count('mesh_price_mismatches')
    deps.log.warn({ peer: peer.did, mismatches }, 'a peer of the mesh asks other prices than it states')
  }
  return mismatches
}

export const nameOf = ({ capability, method }: { capability: string; method: string }) => `${method} ${capability}`

/** What was found wrong before is checked again; the rest is drawn, so that nobody knows what will be asked. */
function sample(deps: MeshDeps, offers: readonly MeshOffer[], doubted: ReadonlySet<string>): MeshOffer[] {
  const askable = offers.filter((offer) => offer.price_micro !== '0' || offer.method === 'GET')
  const again = askable.filter((offer) => doubted.has(nameOf(offer))).slice(0, mismatchesMax)
  const paid = askable.filter((offer) => offer.price_micro !== '0' && !doubted.has(nameOf(offer)))
  const free = askable.filter((offer) => offer.price_micro === '0' && !doubted.has(nameOf(offer)))
  return [...again, ...draw(deps, paid, samplesMax), ...draw(deps, free, 1)]
}

function draw<T>({ rng }: MeshDeps, items: readonly T[], count: number): T[] {
  const left = [...items]
  const drawn: T[] = []
  while (drawn.length < count && left.length > 0) {
    const place = Buffer.from(rng.bytes(4)).readUInt32BE() % left.length
    drawn.push(...left.splice(place, 1))
  }
  return drawn
}

type Differs = { status: 'differs'; askedMicro: string | null; reason: PriceMismatch['reason'] }
type Verdict = { status: 'fits'; askedMicro: string } | Differs

/** As buyers with the SDK ask: a peer that knows who is looking could ask another price of everybody else. */
const buyersHeaders = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors' }

async function probeOffer(
  deps: MeshDeps,
  { statement, keys }: { statement: MeshStatement; keys: readonly PeerKey[] },
  offer: MeshOffer,
  signal: AbortSignal,
): Promise<Verdict | 'unknown'> {
  if (offer.method !== 'GET' && offer.method !== 'POST') return 'unknown'
  const url = exampleUrlOf(statement, offer)
  const answer = await deps.fetcher.fetch(url, {
    method: offer.method,
    ...(offer.method === 'POST' ? { body: '' } : {}),
    as: 'buyer',
    headers: buyersHeaders,
    maxBytes: probeBytesMax,
    onTooLarge: 'cut',
    signal,
  })
  if (answer.status !== 'ok') return 'unknown'
  if (answer.httpStatus !== 402) {
    if (offer.price_micro === '0' && answer.httpStatus < 300) return { status: 'fits', askedMicro: '0' }
    // A free look-up answers 404 for a thing it does not have: that shows neither the price nor that nothing is offered.
    const isLookUp = offer.price_micro === '0' && offer.path.includes('{')
    const gone = [404, 405, 410].includes(answer.httpStatus) && !(isLookUp && answer.httpStatus === 404)
    return gone ? { status: 'differs', askedMicro: null, reason: 'not_offered' } : 'unknown'
  }
  if (answer.cut) return 'unknown'
  const received = { status: 402, headers: new Headers([...answer.headers]), body: new Uint8Array(answer.bytes) }
  const keySet = keySetOf(keys)
  const signed = await verifyResponse({ method: offer.method, url }, received, {
    keys: keySet,
    nowMs: deps.clock.nowMs(),
  })
  // A price that nobody can hold against the peer may be another one for the next buyer. A new key is no fault.
  if (signed.status === 'unknown_key') return 'unknown'
  if (signed.status !== 'verified') return { status: 'differs', askedMicro: null, reason: 'not_signed' }
  return compareAskedPrice(offer, askedMicro(answer.headers.get('payment-required')))
}

/** Exported for its tests: a stated range allows anything within it, a stated price only itself. */
export function compareAskedPrice(offer: MeshOffer, asked: readonly bigint[]): Verdict {
  const lowest = BigInt(offer.price_micro)
  const highest = BigInt(offer.price_micro_max ?? offer.price_micro)
  const wrong = asked.find((amount) => amount < lowest || amount > highest)
  if (asked.length === 0) return { status: 'differs', askedMicro: null, reason: 'asks_another_price' }
  if (wrong !== undefined) return { status: 'differs', askedMicro: wrong.toString(), reason: 'asks_another_price' }
  return { status: 'fits', askedMicro: asked.reduce((most, amount) => (amount > most ? amount : most)).toString() }
}

const required = z.object({
  accepts: z.array(z.object({ scheme: z.string(), amount: z.string().regex(/^[0-9]{1,18}$/) })).max(32),
})

/** The amounts of the exact offers in a PAYMENT-REQUIRED header. */
export function askedMicro(header: string | undefined): bigint[] {
  if (header === undefined || header.length > paymentHeaderCharsMax) return []
  try {
    const parsed = required.safeParse(JSON.parse(Buffer.from(header, 'base64').toString('utf8')))
    if (!parsed.success) return []
    return parsed.data.accepts.filter(({ scheme }) => scheme === 'exact').map(({ amount }) => BigInt(amount))
  } catch {
    return []
  }
}

const manifest = z.object({
  offers: z
    .array(z.object({ capability: z.string(), method: z.string(), price_micro: z.string().regex(/^[0-9]{1,18}$/) }))
    .max(1_024),
  next_page: z.string().max(2_048).nullish(),
})
const manifestPagesMax = 16

async function manifestMismatches(
  deps: MeshDeps,
  statement: MeshStatement,
  signal: AbortSignal,
): Promise<PriceMismatch[]> {
  const stated = await readManifestPrices(deps, statement.address, signal)
  return statement.offers.flatMap((offer) => {
    const written = stated.get(nameOf(offer))
    if (written === undefined || written === offer.price_micro) return []
    return [mismatch(deps, offer, { askedMicro: written, reason: 'manifest_differs' })]
  })
}

/** What all pages of a manifest say; a page that cannot be read ends it. */
async function readManifestPrices(deps: MeshDeps, address: string, signal: AbortSignal): Promise<Map<string, string>> {
  const stated = new Map<string, string>()
  let url: string | undefined = `${address}${manifestPath}`
  for (let page = 0; page < manifestPagesMax && url !== undefined && !signal.aborted; page += 1) {
    const answer = await fetchJson(deps.fetcher, url, manifestBytesMax, signal)
    const parsed = answer.ok ? manifest.safeParse(answer.value) : undefined
    if (!parsed?.success) break
    for (const offer of parsed.data.offers) stated.set(nameOf(offer), offer.price_micro)
    const { next_page: next } = parsed.data
    // Of the same node only: its manifest sends us nowhere else.
    url = next?.startsWith(`${address}${manifestPath}?`) ? next : undefined
  }
  return stated
}

function mismatch(
  { clock }: MeshDeps,
  offer: MeshOffer,
  { askedMicro, reason }: Pick<Differs, 'askedMicro' | 'reason'>,
): PriceMismatch {
  return {
    capability: offer.capability,
    method: offer.method,
    stated_micro: offer.price_micro,
    asked_micro: askedMicro,
    reason,
    seen_at: toRfc3339(clock.nowMs()),
  }
}
