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

/** The fields that differ between two blocks, and the events between them. */
export type TokenDiff = AnswerOf<'tokens.diff'>
export type TokenBatch = AnswerOf<'tokens.check_batch'>
export type TokenList = AnswerOf<'tokens.list'>

const queryOf = (values: Record<string, string | undefined>): string => {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** GET /v1/check/{address}, at a past block where one is given; the answer is read from `result.response`. */
export function checkToken(
  client: AssayClient,
  address: string,
  options: { wallet?: string; block?: string } = {},
): Promise<AssayResult> {
  return client.fetch(`/v1/check/${encodeURIComponent(address)}${queryOf(options)}`)
}

/** POST /v1/check/batch: up to 100 tokens, all read at one block. */
export function checkTokens(
  client: AssayClient,
  addresses: readonly string[],
  options: { wallet?: string } = {},
): Promise<AssayResult> {
  return client.fetch('/v1/check/batch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ addresses, ...options }),
  })
}

/** GET /v1/check/{address}/diff: what changed between two blocks. */
export function diffToken(
  client: AssayClient,
  address: string,
  blocks: { from: string; to?: string },
): Promise<AssayResult> {
  return client.fetch(`/v1/check/${encodeURIComponent(address)}/diff${queryOf(blocks)}`)
}

export type ReportFormat = 'json' | 'markdown' | 'html' | 'pdf'

const mediaTypes: Record<ReportFormat, string> = {
  json: 'application/json',
  markdown: 'text/markdown',
  html: 'text/html',
  pdf: 'application/pdf',
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
