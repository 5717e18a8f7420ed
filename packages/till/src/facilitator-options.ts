import type { Hex } from '@assay/protocol/bytes'
import type { FacilitatorOption } from './till-options.ts'

/** Coinbase's facilitator, with the id and secret of an API key. */
export function cdp({
  keyId = '',
  keySecret = '',
}: {
  keyId: string | undefined
  keySecret: string | undefined
}): FacilitatorOption {
  return { choice: { kind: 'cdp', settings: { apiKeyId: keyId, apiKeySecret: keySecret } } }
}

/** Any x402 facilitator by its address. */
export function http(url: string | undefined): FacilitatorOption {
  return { choice: { kind: 'url', settings: { url: url ?? '' } } }
}

/** This process itself settles, with wallets that hold gas. */
export function local({ keys }: { keys: readonly Hex[] }): FacilitatorOption {
  return { choice: { kind: 'local', settings: {} }, settlerKeys: keys }
}
