import type { SignatureInput } from './signature-input.ts'

type Limits = { nowMs: number; validitySecondsMax: number; skewMs: number }

/** Until when the nonce of a signed request must be remembered, or why its times are refused. */
export function requestExpiryMs(input: SignatureInput, { nowMs, validitySecondsMax, skewMs }: Limits): number | string {
  const created = input.params.get('created')
  const expires = input.params.get('expires')
  if (typeof created !== 'number' || typeof expires !== 'number') return 'created and expires are required.'
  if (expires <= created || expires - created > validitySecondsMax)
    return `A signature is valid for ${validitySecondsMax} seconds at most.`
  if (created * 1000 > nowMs + skewMs) return 'created is in the future.'
  if (expires * 1000 <= nowMs - skewMs) return 'The signature has expired.'
  return expires * 1000 + skewMs
}
