import { toBase64 } from '@assay/protocol/base64'
import type { Hex } from '@assay/protocol/bytes'
import type { CitationAttestation } from '@assay/protocol/evidence/attestation-file'
import { attestationIn, type Evidence, type EvidencePayment } from '@assay/protocol/evidence/evidence-file'
import { decodeHeader, isRecord } from '@assay/protocol/json-object'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import type { AssayResult } from './context.ts'

export async function packEvidence(input: {
  request: { method: string; url: string; contentType: string | null; body: Uint8Array }
  result: AssayResult
  directory: unknown
  /** Read again after the sale, when witnesses had signed. */
  attestation?: CitationAttestation
  nowMs: number
}): Promise<Evidence> {
  const { request, result } = input
  const headers = Object.fromEntries(result.response.headers)
  const body = new Uint8Array(await result.response.clone().arrayBuffer())
  return {
    format: 'assay-evidence',
    version: 2,
    saved_at: new Date(input.nowMs).toISOString(),
    request: {
      method: request.method,
      url: plainUrl(request.url),
      content_type: request.contentType,
      body_base64: toBase64(request.body),
    },
    response: { status: result.response.status, headers, body_base64: toBase64(body) },
    keys: { origin: new URL(request.url).origin, directory: input.directory ?? null },
    payment: paymentOf(result),
    receipt: receiptInHeaders(decodeHeader(headers['payment-response'] ?? '', 16_384)) ?? null,
    attestation: input.attestation ?? attestationIn(body) ?? null,
  }
}

function plainUrl(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
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
