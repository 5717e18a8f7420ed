/**
 * The problems that the till raises. Its embedder defines others (`defineProblems`), and says which route helps with one of
 * these (`setHints`). A test compares all of them with docs/errors.md.
 */
type Row = { status: number; title: string; retryable: boolean; hint: string }

const row = (status: number, retryable: boolean, title: string, hint: string): Row => ({
  status,
  title,
  retryable,
  hint,
})

export const problemTable = {
  // --- the request itself ---
  bad_request: row(400, false, 'Bad request', 'Correct the request as the detail says; nothing was charged.'),
  input_invalid: row(
    400,
    false,
    'Input is not valid',
    'Correct the fields named in `problems`, then send the request again; nothing was charged.',
  ),
  not_found: row(404, false, 'Resource not found', 'Check what the address names; paths are exact.'),
  method_not_allowed: row(405, false, 'Method not allowed', 'Use one of the methods in the Allow header.'),
  not_acceptable: row(406, false, 'Representation is not available', 'Ask for one of the media types in `available`.'),
  body_too_large: row(413, false, 'Body too large', 'Send at most `max_bytes` bytes, uncompressed.'),
  unsupported_media_type: row(
    415,
    false,
    'Unsupported content type',
    'Send application/json, without content encoding.',
  ),
  rate_limited: row(429, true, 'Too many requests', 'Wait for Retry-After seconds.'),
  headers_too_large: row(431, false, 'Headers too large', 'Send fewer or shorter headers.'),
  internal: row(
    500,
    true,
    'Internal error',
    'Try again; if a payment was sent, resend the same one and never sign a new one.',
  ),
  not_ready: row(503, true, 'Not ready', 'Try again after Retry-After seconds; nothing was charged.'),
  upstream_unavailable: row(
    503,
    true,
    'Upstream source is unavailable',
    'Try again after Retry-After seconds; nothing was charged.',
  ),
  not_available: row(
    503,
    true,
    'Not for sale now',
    'See `why` and `since`; try again after Retry-After seconds. Nothing was charged.',
  ),
  // --- payment ---
  payment_required: row(402, true, 'Payment required', 'Sign one of `accepts` and resend with PAYMENT-SIGNATURE.'),
  payment_malformed: row(
    400,
    false,
    'Payment header is malformed',
    'Send base64 of a JSON PaymentPayload with x402Version 2 in PAYMENT-SIGNATURE; nothing was charged.',
  ),
  payment_v1: row(
    400,
    false,
    'x402 version 1 is not supported',
    'Send PAYMENT-SIGNATURE (version 2), as PAYMENT-REQUIRED of the 402 says.',
  ),
  payment_invalid: row(
    402,
    true,
    'Payment does not match the offer',
    'Read `reason`, sign a new authorization for the offer in PAYMENT-REQUIRED; no money moved.',
  ),
  payment_failed: row(
    402,
    true,
    'Payment was not settled',
    'No money moved. Read `reason`, then sign a new authorization.',
  ),
  payment_binding_invalid: row(
    402,
    true,
    'Request binding does not match this request',
    'Derive the nonce from this method, URL, content type and body; see docs/request-binding.md.',
  ),
  payment_resource_mismatch: row(
    409,
    false,
    'Payment is bound to another request',
    'Sign a new authorization for this request.',
  ),
  payment_used: row(
    409,
    false,
    'Payment has already been used',
    'If the answer was lost, resend with the payment-identifier of that purchase, or repeat the request with a fresh authorization of the same payer.',
  ),
  payment_credited: row(
    409,
    false,
    'Authorization was already spent',
    'The amount that arrived is added to your credit balance. Sign an authorization with a new nonce.',
  ),
  payment_nonce_reused: row(
    409,
    false,
    'Nonce was already used with other terms',
    'Sign an authorization with a new nonce.',
  ),
  payer_refused: row(
    403,
    false,
    'Payer is not accepted',
    'This account is on a sanctions list, or the payment provider does not serve it. Nothing was charged; pay from another account.',
  ),
  payment_identifier_conflict: row(
    409,
    false,
    'payment-identifier belongs to another request',
    'Use one identifier per purchase, and the same one on each of its retries.',
  ),
  payment_in_flight: row(
    503,
    true,
    'Payment is being processed',
    'Do not sign a new payment. Resend the same one after Retry-After seconds, or poll status_url.',
  ),
  settlement_unknown: row(
    503,
    true,
    'Settlement outcome is not known yet',
    'Do not sign a new payment. Poll status_url, or resend the same request after Retry-After seconds.',
  ),
  settlement_unavailable: row(
    503,
    true,
    'Settlement is temporarily unavailable',
    'Nothing was charged. Try again after Retry-After seconds.',
  ),
  exposure_limit: row(
    503,
    true,
    'Limit of non-final sales is reached',
    'Nothing was charged. Try again after Retry-After seconds.',
  ),
  payer_limit: row(
    429,
    true,
    'Payer has too many payments in progress',
    'Nothing was charged. Wait for the payments in flight, then try again.',
  ),
  loss_limit: row(
    429,
    true,
    'Too many failed settlements today',
    'Nothing was charged. The limit resets at midnight UTC.',
  ),
  refund_due: row(
    503,
    true,
    'Paid answer can no longer be delivered',
    'The amount was added to your credit balance; see status_url.',
  ),
  // --- entitlements: credit, mandates, bonds ---
  call_in_flight: row(
    503,
    true,
    'Call is being processed',
    'Resend it with the same Idempotency-Key after Retry-After seconds; nothing is used twice.',
  ),
  idempotency_conflict: row(
    409,
    false,
    'Idempotency-Key belongs to another request',
    'Use one key per call, and the same one on each of its retries.',
  ),
  mandate_unknown: row(
    404,
    false,
    'Mandate not found',
    'Hand in the signed mandate first; the answer has its id. Nothing was charged.',
  ),
  mandate_invalid: row(
    400,
    false,
    'Mandate is not valid',
    'Correct what the detail says, sign it again with the owner’s wallet, and send it again.',
  ),
  delegate_mismatch: row(
    403,
    false,
    'Caller is not the mandate’s delegate',
    'Sign the request with the wallet that the mandate names as delegate. Nothing was charged.',
  ),
  mandate_route: row(
    403,
    false,
    'Mandate does not cover this route',
    'Pay for this call another way, or ask the owner for a mandate that names it. Nothing was charged.',
  ),
  mandate_expired: row(
    403,
    false,
    'Mandate has expired',
    'Ask the owner for a new mandate, or pay for this call another way. Nothing was charged.',
  ),
  mandate_revoked: row(
    403,
    false,
    'Mandate was revoked',
    'Ask the owner for a new mandate, or pay for this call another way. Nothing was charged.',
  ),
  mandate_unconfirmed: row(
    403,
    false,
    'Mandate is not confirmed since a restore',
    'Ask the owner to hand it in again in a request signed by the owner, or for a new one. Nothing was charged.',
  ),
  mandate_over_cap: row(
    403,
    false,
    'Mandate limit is exceeded',
    'See `cap` for which limit it is; a daily limit resets at midnight UTC. Nothing was charged.',
  ),
  credit_unavailable: row(
    422,
    false,
    'Credit balance is too low',
    'See `available_micro`: money held by calls, locked in bonds or not final yet cannot be moved.',
  ),
  bond_unknown: row(404, false, 'Bond not found', 'Check its id and who locked it.'),
  bond_ended: row(409, false, 'Bond has ended', 'It was released or taken by a ruling; lock a new one.'),
  // --- identity ---
  proof_required: row(
    401,
    false,
    'Proof of identity is required',
    'Sign as Accept-Signature or the sign-in-with-x challenge says.',
  ),
  proof_invalid: row(401, false, 'Proof of identity is not valid', 'Get a fresh challenge and sign it again.'),
  proof_unchecked: row(
    503,
    true,
    'Proof of identity could not be checked',
    'The chain could not be read. Send the same proof again after Retry-After seconds.',
  ),
  forbidden: row(403, false, 'Not allowed for this account', 'The payment and the proof must name the same account.'),
} as const satisfies Record<string, Row>
