import type { AnswerOf } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import type { AssayResult } from '../context.ts'

/** The free answer about one token. */
export type TokenCheck = AnswerOf<'tokens.check'>
export type TokenVerdict = TokenCheck['verdict']
export type TokenPower = TokenCheck['powers'][keyof TokenCheck['powers']]
export type TokenParty = TokenPower['who'][number]
/** `later`: not now, but somebody can bring it about. */
export type TokenCapability = NonNullable<TokenCheck['wallet']>['hold']

/** GET /v1/check/{address}; the answer is read from `result.response`. */
export function checkToken(
  client: AssayClient,
  address: string,
  options: { wallet?: string } = {},
): Promise<AssayResult> {
  const query = options.wallet === undefined ? '' : `?wallet=${encodeURIComponent(options.wallet)}`
  return client.fetch(`/v1/check/${encodeURIComponent(address)}${query}`)
}

export function checkTokens(client: AssayClient, addresses: readonly string[]): Promise<AssayResult> {
  return client.fetch('/v1/check/batch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ addresses }),
  })
}

export type ReportFormat = 'json' | 'markdown' | 'html'

const mediaTypes: Record<ReportFormat, string> = {
  json: 'application/json',
  markdown: 'text/markdown',
  html: 'text/html',
}

/** Buys GET /v1/report/{address} within the client's policy. */
export function buyTokenReport(
  client: AssayClient,
  address: string,
  options: { format?: ReportFormat; proof?: boolean } = {},
): Promise<AssayResult> {
  const query = options.proof ? '?proof=1' : ''
  return client.fetch(`/v1/report/${encodeURIComponent(address)}${query}`, {
    headers: { accept: mediaTypes[options.format ?? 'json'] },
  })
}
