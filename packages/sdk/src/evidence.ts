import type { Hex } from 'viem'
import { decodeHeader, fromBase64, isRecord, toBase64 } from './bytes.ts'
import type { AssayResult } from './context.ts'
import { receiptIn } from './receipt-in.ts'

/**
 * Everything needed to check an answer later without asking anyone: what was sent, what came back byte for byte, the
 * keys of that day and the payment. The secret identifier of the purchase is left out, so it can be shown around.
 */
export type Evidence = {
  format: 'assay-evidence'
  version: 1
  saved_at: string
  request: { method: string; url: string; content_type: string | null; body_base64: string }
  response: { status: number; headers: Record<string, string>; body_base64: string }
  keys: { origin: string; directory: unknown }
  payment: EvidencePayment | null
  /** The seller's receipt, which is also inside PAYMENT-RESPONSE. */
  receipt: string | null
}

/** What the payer signed. */
export type EvidencePayment = {
  /** The seller's name of what was bought. */
  resource: string
  network: string
  asset: string
  asset_name: string
  asset_version: string
  transaction: string | null
  authorization: { from: Hex; to: Hex; value: string; validAfter: string; validBefore: string; nonce: Hex }
  signature: Hex
  /** Opens the nonce: with it the payer's own signature says what was bought. */
  binding_salt: Hex | null
}

export async function packEvidence(input: {
  request: { method: string; url: string; contentType: string | null; body: Uint8Array }
  result: AssayResult
  directory: unknown
  nowMs: number
}): Promise<Evidence> {
  const { request, result } = input
  const headers = Object.fromEntries(result.response.headers)
  const body = new Uint8Array(await result.response.clone().arrayBuffer())
  return {
    format: 'assay-evidence',
    version: 1,
    saved_at: new Date(input.nowMs).toISOString(),
    request: {
      method: request.method,
      url: request.url,
      content_type: request.contentType,
      body_base64: toBase64(request.body),
    },
    response: { status: result.response.status, headers, body_base64: toBase64(body) },
    keys: { origin: new URL(request.url).origin, directory: input.directory ?? null },
    payment: paymentOf(result),
    receipt: receiptIn(decodeHeader(headers['payment-response'] ?? '', 16_384)) ?? null,
  }
}

function paymentOf({ purchase, payment }: AssayResult): EvidencePayment | null {
  const sent = purchase === undefined ? undefined : decodeHeader(purchase.paymentHeader, 65_536)
  if (purchase === undefined || sent === undefined || !isRecord(sent.payload)) return null
  const { authorization, signature } = sent.payload
  const extra = isRecord(sent.accepted) && isRecord(sent.accepted.extra) ? sent.accepted.extra : {}
  const binding = isRecord(sent.extensions) ? sent.extensions['request-binding'] : undefined
  const info = isRecord(binding) && isRecord(binding.info) ? binding.info : {}
  return {
    resource: purchase.resource,
    network: purchase.network,
    asset: purchase.asset,
    asset_name: String(extra.name ?? 'USD Coin'),
    asset_version: String(extra.version ?? '2'),
    transaction: payment.status === 'settled' ? payment.transaction : null,
    authorization: authorization as EvidencePayment['authorization'],
    signature: signature as Hex,
    binding_salt: typeof info.salt === 'string' ? (info.salt as Hex) : null,
  }
}

/** Undefined for anything that is not an evidence file of a version we know. */
export function parseEvidence(value: unknown): Evidence | undefined {
  if (!isRecord(value) || value.format !== 'assay-evidence' || value.version !== 1) return undefined
  const { request, response, keys, payment, receipt } = value
  if (!isRecord(request) || !isRecord(response) || !isRecord(keys) || typeof value.saved_at !== 'string')
    return undefined
  const texts = [request.method, request.url, request.body_base64, response.body_base64, keys.origin]
  if (!texts.every((text) => typeof text === 'string') || !URL.canParse(request.url as string)) return undefined
  if (request.content_type !== null && typeof request.content_type !== 'string') return undefined
  if (!Number.isSafeInteger(response.status) || !isHeaders(response.headers)) return undefined
  if (fromBase64(request.body_base64 as string) === undefined) return undefined
  if (fromBase64(response.body_base64 as string) === undefined) return undefined
  if (receipt !== null && typeof receipt !== 'string') return undefined
  return payment === null || isPayment(payment) ? (value as Evidence) : undefined
}

function isHeaders(value: unknown): value is Record<string, string> {
  if (!isRecord(value) || !Object.values(value).every((text) => typeof text === 'string')) return false
  try {
    new Headers(value as Record<string, string>)
    return true
  } catch {
    return false
  }
}

const hexOf = (bytes: number) => new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`)
const [address, word, someHex, digits] = [hexOf(20), hexOf(32), /^0x([0-9a-fA-F]{2})*$/, /^[0-9]{1,78}$/]
const fits = (pattern: RegExp, value: unknown) => typeof value === 'string' && pattern.test(value)

function isPayment(value: unknown): value is EvidencePayment {
  if (!isRecord(value) || !isRecord(value.authorization)) return false
  const { from, to, value: amount, validAfter, validBefore, nonce } = value.authorization
  return (
    typeof value.resource === 'string' &&
    URL.canParse(value.resource) &&
    fits(/^eip155:[1-9][0-9]{0,14}$/, value.network) &&
    [value.asset, from, to].every((text) => fits(address, text)) &&
    [amount, validAfter, validBefore].every((text) => fits(digits, text)) &&
    fits(word, nonce) &&
    fits(someHex, value.signature) &&
    [value.asset_name, value.asset_version].every((text) => typeof text === 'string') &&
    (value.binding_salt === null || fits(word, value.binding_salt)) &&
    (value.transaction === null || fits(word, value.transaction))
  )
}
