/** Everything the client refuses by itself. What the node refuses comes back as its response. */
const table = {
  host_not_allowed: ['This host may not be paid', 'Add the host to `hosts` if you trust it.'],
  payment_required_malformed: ['The 402 cannot be read', 'The seller does not speak x402 v2; nothing was signed.'],
  resource_mismatch: [
    'The offer is for something else',
    'The seller quotes another resource than the one asked for; nothing was signed.',
  ],
  price_above_maximum: [
    'The price is above the maximum',
    'Raise maxPerCallUsd if the price is right; nothing was signed.',
  ],
  budget_exhausted: [
    'The budget of this client is used up',
    'Raise maxTotalUsd or maxPerDayUsd, or wait for the next day (UTC); nothing was signed.',
  ],
  not_confirmed: ['The purchase was not confirmed', 'Your own `confirm` said no; nothing was signed.'],
  no_acceptable_offer: [
    'No offer fits the policy',
    'Read details.reasons: network, asset or method are not allowed; nothing was signed.',
  ],
  signature_missing: ['The response is not signed', "Use verify: 'report' for sellers that do not sign."],
  signature_invalid: [
    'The signature of the response is not valid',
    'Do not trust this answer. If it was paid for, details.result has what arrived.',
  ],
  key_not_trusted: [
    'The signing key is not trusted',
    'The node changed its key without a statement by the old key or the operator wallet.',
  ],
  keys_unavailable: ['The keys of the node cannot be read', 'Pass `keys`, or try again; nothing was signed.'],
  terms_moved: ['The terms changed after the quote', 'Ask for a new quote and agree to it; nothing was signed.'],
  not_a_demo_node: ['This is not a demo node', 'Only a node in demo mode has wallets to lend; use your own wallet.'],
  challenge_refused: [
    'The sign-in challenge is not one to sign',
    'It is for another site, chain or time than the one you meant; nothing was signed.',
  ],
  input_refused: ['The node cannot sell this input', 'Correct it as details.problem says; nothing was signed.'],
  request_failed: ['The request failed', 'Try again; nothing was signed.'],
  body_too_large: ['The body is too large to pay for', 'Send at most 1 MiB.'],
  answer_too_large: [
    'The answer is too large to take in',
    'If it was paid for, details.purchase asks for it again; ask for less at a time.',
  ],
  payment_not_taken: [
    'The node does not take the payment at the moment',
    'Nothing was charged, says the node. Call fetch again later with details.purchase, or let it run out.',
  ],
  payment_outcome_unknown: [
    'It is not known whether the payment settled',
    'Do not pay again. Call fetch again with details.purchase, or poll details.statusUrl.',
  ],
} as const satisfies Record<string, readonly [title: string, hint: string]>

export type AssayErrorCode = keyof typeof table

export class AssayError extends Error {
  readonly code: AssayErrorCode
  readonly hint: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: AssayErrorCode, details: Record<string, unknown> = {}, cause?: unknown) {
    const [title, hint] = table[code]
    super(
      typeof details.detail === 'string' ? `${title}: ${details.detail}` : title,
      cause === undefined ? {} : { cause },
    )
    this.name = 'AssayError'
    this.code = code
    // The node's own words, where it said what to do.
    this.hint = typeof details.hint === 'string' ? details.hint : hint
    this.details = details
  }
}
