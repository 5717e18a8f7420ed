import type { Evidence } from '@assay/sdk'

/** One thing to buy. */
export type Order = {
  /** For people: "Full report on dSEIZE". */
  what: string
  url: string
  method?: 'GET' | 'POST'
  body?: unknown
  headers?: Record<string, string>
}

export type Settled = { status: 'settled'; amountMicro: string; network: string; transaction: string }

/** What came back, with everything that was checked about it. */
export type Bought = {
  body: unknown
  /** As received: a file is saved from these. */
  bytes: Uint8Array<ArrayBuffer>
  verified: { ok: true; keyId: string; created: number } | { ok: false; reason: string }
  payment: Settled | { status: 'none' | 'drawn' | 'refused' | 'unconfirmed' }
  receipt: { ok: true; keyId: string } | { ok: false; reason: string } | undefined
  evidence: Evidence
}
