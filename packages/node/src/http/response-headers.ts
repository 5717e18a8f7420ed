/** Headers every response carries, whatever happened. */
const exposed = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'WWW-Authenticate',
  'Payment-Receipt',
  'Signature',
  'Signature-Input',
  'Content-Digest',
  'X-x402-Next',
  'X-X402-Royalty-Recipient',
  'X-X402-Royalty-Bps',
  'X-X402-License',
  'Link',
  'Accept-Signature',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
]

const allowed = [
  'PAYMENT-SIGNATURE',
  'Payment-Authorization',
  'SIGN-IN-WITH-X',
  'Signature',
  'Signature-Input',
  'Content-Digest',
  'X-Affiliate-ID',
  'Authorization',
  'Content-Type',
  'Accept',
  'Idempotency-Key',
  'Assay-Mandate',
  'Last-Event-ID',
  'X-Request-Id',
]

/** Open to every origin and never with credentials: a browser sends no cookie of ours, so there is nothing to forge. */
export const corsHeaders: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposed.join(', '),
]

export const preflightHeaders: readonly string[] = [
  'Access-Control-Allow-Methods',
  'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  allowed.join(', '),
  'Access-Control-Max-Age',
  '86400',
]

export const royaltyBps = 250

export const royaltyHeaders = {
  recipient: 'X-X402-Royalty-Recipient',
  bps: 'X-X402-Royalty-Bps',
  license: 'X-X402-License',
}

/** Lower-case: of the responder alone, so that no handler sets them. */
export const ownHeaders: ReadonlySet<string> = new Set(
  ['X-x402-Next', ...Object.values(royaltyHeaders)].map((name) => name.toLowerCase()),
)
