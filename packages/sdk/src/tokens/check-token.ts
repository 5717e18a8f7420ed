import type { AssayClient } from '../client.ts'
import type { AssayResult } from '../context.ts'

export type TokenVerdict = 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'
export type TokenParty = {
  account: string
  how: string
  /** Of policies: whether this party can do it without any other. */
  alone?: boolean
  label: { kind: string; threshold?: number; owners?: string[] }
}
export type TokenPower = {
  state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'
  now: 'impossible' | 'latent' | 'armed' | 'unknown'
  exercised: number
  who: TokenParty[]
  could_become: TokenParty[]
  why: string
}
/** `later`: not now, but somebody can bring it about. */
export type TokenCapability = { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }

/** The free answer about one token. */
export type TokenCheck = {
  address: string
  network: string
  synthetic?: true
  verdict: TokenVerdict
  summary: string
  complete: boolean
  token: Record<string, unknown>
  powers: Record<string, TokenPower>
  flags: { code: string; severity: 'info' | 'notice' | 'warning' | 'critical'; sentence: string; facts: string[] }[]
  block: { number: string; hash: string; at: string }
  completeness: { complete: boolean; missing: { code: string; detail: string }[] }
  valid_until_at: string
  report: { url: string; price_usd: string }
  wallet?: { wallet: string; balance: string | { unknown: string } } & Record<
    'hold' | 'send' | 'receive' | 'be_frozen' | 'be_seized',
    TokenCapability
  >
}

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
