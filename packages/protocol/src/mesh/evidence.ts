import { hashMessage } from 'viem/utils'
import { type Address, parseAddress } from '../address.ts'
import { fromBase64, fromBase64url } from '../base64.ts'
import { tryCanonicalJson } from '../canonical-json.ts'
import { isRecord, readJsonObject } from '../json-object.ts'
import { parseMicro } from '../money.ts'
import { verifyReceipt } from '../receipt.ts'
import { recoverSigner } from '../recover-signer.ts'
import { verifyResponse } from '../signatures/verify-response.ts'
import { fitsTemplate, pathSegments } from './path-template.ts'
import type { MeshOffer, MeshStatement } from './read-statement.ts'
import { keySetOf, type PeerKey, siteOf, verifyMeshStatement } from './statement.ts'

/** A node stated one price, signed, and asked another of a buyer, signed too: its own two signatures contradict. */
export type PriceEvidence = {
  type: 'x402-mesh-price'
  /** DID of the node. */
  node: string
  statement: string
  request: { method: string; url: string }
  /** The 402 with the headers that its signature covers; the body in base64. */
  response: { status: number; headers: Record<string, string>; body: string }
  reporter: string
  reported_at: string
}

/** A paid call, with the receipt that the node signed for it. */
export type PurchaseEvidence = {
  type: 'x402-mesh-purchase'
  node: string
  capability: string
  method: string
  receipt: string
  stated_micro: string
  paid_micro: string
  latency_ms: number
  /** `disputed`: paid, and not what was offered. */
  outcome: 'ok' | 'disputed'
  reporter: string
  reported_at: string
}

export type MeshEvidence = PriceEvidence | PurchaseEvidence
/** Signed by the wallet of the buyer (EIP-191) over `evidenceMessage`. */
export type SignedEvidence = MeshEvidence & { signature: string }

export type EvidenceVerdict =
  | {
      ok: true
      kind: 'price'
      capability: string
      method: string
      statedMicro: bigint
      askedMicro: bigint
      atMs: number
    }
  | { ok: true; kind: 'purchase'; capability: string; method: string; payer: Address; atMs: number }
  | { ok: false; reason: string }

export const evidenceCharsMax = 65_536
/** Evidence of a price is about now; a node that asks what it states again is forgiven after this. */
export const priceEvidenceMs = 86_400_000
export const purchaseEvidenceMs = 30 * 86_400_000

/** The text that the buyer's wallet signs. */
export function evidenceMessage(evidence: MeshEvidence): string {
  return `x402 mesh evidence\n${tryCanonicalJson(evidence) ?? ''}`
}

const no = (reason: string): EvidenceVerdict => ({ ok: false, reason })
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z$/
const skewMs = 60_000

export type EvidenceCheck = {
  address: string
  /** The statement of the node that the checker holds. */
  current: MeshStatement
  keys: readonly PeerKey[]
  nowMs: number
}

/** Believes evidence only as far as signatures carry it: the node's own inside, the buyer's wallet around it. */
export async function verifyMeshEvidence(value: unknown, check: EvidenceCheck): Promise<EvidenceVerdict> {
  const evidence = readEvidence(value)
  if (evidence === undefined) return no('malformed')
  const { signature, ...content } = evidence
  if (content.node !== check.current.did) return no('about another node')
  const reportedMs = Date.parse(content.reported_at)
  const ageMsMax = content.type === 'x402-mesh-price' ? priceEvidenceMs : purchaseEvidenceMs
  if (reportedMs > check.nowMs + skewMs || reportedMs < check.nowMs - ageMsMax) return no('not of this time')
  const signer = await recoverSigner(() => hashMessage(evidenceMessage(content)), signature)
  if (signer === undefined || signer !== content.reporter) return no('not signed by its reporter')
  return content.type === 'x402-mesh-price' ? checkPrice(content, check) : checkPurchase(content, check)
}

async function checkPrice(evidence: PriceEvidence, check: EvidenceCheck): Promise<EvidenceVerdict> {
  const { request, response } = evidence
  const body = fromBase64(response.body)
  const createdMs = 1000 * Number(/;created=(\d{1,12});/.exec(response.headers['signature-input'] ?? '')?.[1])
  if (body === undefined || !(createdMs > check.nowMs - priceEvidenceMs && createdMs < check.nowMs + skewMs))
    return no('the 402 is not of this time')
  const received = { status: response.status, headers: new Headers(response.headers), body }
  const signed = await verifyResponse(request, received, { keys: keySetOf(check.keys), nowMs: createdMs })
  if (signed.status !== 'verified') return no('the 402 is not signed by the node')
  const stated = await verifyMeshStatement(evidence.statement, {
    ...{ address: check.address, keys: check.keys, nowMs: createdMs },
  })
  if (!stated.ok) return no(`statement: ${stated.reason}`)
  const offer = offerAt(stated.statement, request)
  if (offer === undefined) return no('the statement does not offer this')
  const wrong = contradiction(offer, received.headers.get('payment-required'))
  if (wrong === undefined) return no('the 402 asks what was stated')
  // A node that changed its price said so soon after; only what it never stated is a lie.
  const later = offerAt(check.current, request)
  if (later !== undefined && Date.parse(check.current.issued_at) < createdMs + 2 * skewMs && within(later, wrong))
    return no('the node stated this price')
  const { capability, method } = offer
  return {
    ok: true,
    kind: 'price',
    capability,
    method,
    statedMicro: BigInt(offer.price_micro),
    askedMicro: wrong,
    atMs: createdMs,
  }
}

async function checkPurchase(evidence: PurchaseEvidence, check: EvidenceCheck): Promise<EvidenceVerdict> {
  const resource = readJsonObject(fromBase64url(evidence.receipt.split('.')[1] ?? ''))
  const url = typeof resource?.resourceUrl === 'string' ? resource.resourceUrl : ''
  if (!URL.canParse(url)) return no('the receipt cannot be read')
  const offer = offerAt(check.current, { method: evidence.method, url })
  if (offer?.capability !== evidence.capability) return no('the node does not offer this')
  const verified = await verifyReceipt(evidence.receipt, {
    keys: keySetOf(check.keys),
    authority: new URL(url).host,
    expected: { payer: evidence.reporter },
  })
  if (verified.status !== 'verified') return no(verified.reason)
  const atMs = verified.receipt.issuedAt * 1000
  if (atMs < check.nowMs - purchaseEvidenceMs || atMs > check.nowMs + skewMs)
    return no('the receipt is not of this time')
  const { capability, method } = offer
  return { ok: true, kind: 'purchase', capability, method, payer: evidence.reporter as Address, atMs }
}

/** The offer that a request is about, at the origin where the statement has it. */
export function offerAt(statement: MeshStatement, request: { method: string; url: string }): MeshOffer | undefined {
  if (!URL.canParse(request.url)) return undefined
  const { origin, pathname } = new URL(request.url)
  return statement.offers.find(
    (offer) =>
      offer.method === request.method &&
      siteOf(statement, offer) === origin &&
      fitsTemplate(pathSegments(offer.path), pathSegments(pathname)),
  )
}

const within = (offer: MeshOffer, micro: bigint) =>
  micro >= BigInt(offer.price_micro) && micro <= BigInt(offer.price_micro_max ?? offer.price_micro)

/** The amount of a PAYMENT-REQUIRED that its offer does not allow. */
export function contradiction(offer: MeshOffer, paymentRequired: string | null): bigint | undefined {
  const required = paymentRequired === null ? undefined : readJsonObject(fromBase64(paymentRequired))
  const accepts = Array.isArray(required?.accepts) ? required.accepts : []
  return accepts
    .flatMap((entry: unknown) => {
      const micro = isRecord(entry) && entry.scheme === 'exact' ? parseMicro(String(entry.amount)) : undefined
      return micro === undefined ? [] : [micro]
    })
    .find((micro) => !within(offer, micro))
}

const isText = (value: unknown, charsMax: number): value is string =>
  typeof value === 'string' && value.length <= charsMax

/** Only the members of the type: what else is there would be signed and mean nothing. */
export function readEvidence(value: unknown): SignedEvidence | undefined {
  if (!isRecord(value) || (tryCanonicalJson(value)?.length ?? evidenceCharsMax + 1) > evidenceCharsMax) return undefined
  const { type, node, reporter, reported_at, signature } = value
  if (!isText(node, 300) || !isText(signature, 132) || !isText(reporter, 42) || parseAddress(reporter) !== reporter)
    return undefined
  if (!isText(reported_at, 40) || !timePattern.test(reported_at)) return undefined
  if (type === 'x402-mesh-price') return isPrice(value) ? value : undefined
  return type === 'x402-mesh-purchase' && isPurchase(value) ? value : undefined
}

function hasOnly(value: Record<string, unknown>, names: readonly string[]): boolean {
  return Object.keys(value).length === names.length && names.every((name) => value[name] !== undefined)
}

const common = ['type', 'node', 'reporter', 'reported_at', 'signature']

function isPrice(value: Record<string, unknown>): value is PriceEvidence & { signature: string } {
  const { statement, request, response } = value
  return (
    hasOnly(value, [...common, 'statement', 'request', 'response']) &&
    isText(statement, 24_576) &&
    isRecord(request) &&
    isText(request.method, 8) &&
    isText(request.url, 2_048) &&
    isRecord(response) &&
    response.status === 402 &&
    isText(response.body, 24_576) &&
    isRecord(response.headers) &&
    Object.entries(response.headers).every(
      ([name, text]) => /^[a-z0-9-]{1,64}$/.test(name) && isText(text, 16_384) && /^[\x20-\x7e]*$/.test(text),
    )
  )
}

function isPurchase(value: Record<string, unknown>): value is PurchaseEvidence & { signature: string } {
  const { capability, method, receipt, stated_micro, paid_micro, latency_ms, outcome } = value
  return (
    hasOnly(value, [
      ...common,
      'capability',
      'method',
      'receipt',
      'stated_micro',
      'paid_micro',
      'latency_ms',
      'outcome',
    ]) &&
    isText(capability, 64) &&
    isText(method, 8) &&
    isText(receipt, 8_192) &&
    parseMicro(String(stated_micro)) !== undefined &&
    parseMicro(String(paid_micro)) !== undefined &&
    Number.isSafeInteger(latency_ms) &&
    (latency_ms as number) >= 0 &&
    (outcome === 'ok' || outcome === 'disputed')
  )
}
