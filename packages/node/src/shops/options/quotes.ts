import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Rng } from '@assay/till/kernel/random'
import { optionProblems } from './problems.ts'

export type QuoteTerms = {
  /** Of a bid: the position. */
  symbol: string
  quantity: number
  totalMicro: Micro
  /** The vault's price of a contract, where it would write some of them: it keeps to it while the quote lasts. */
  vaultMicro?: Micro
  expiresAtMs: number
}

export type OptionQuotes = {
  issue(terms: Omit<QuoteTerms, 'expiresAtMs'>): { id: string; terms: QuoteTerms }
  /** Throws a Problem for a quote that is not ours, has run out, or is for something else. No I/O. */
  open(id: string, symbol: string, quantity?: number): QuoteTerms
}

export const quoteIdPattern = /^[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{22}$/

/** A quote carries its own terms under a secret that all processes share, so that a price needs no read of a table. */
export function createQuotes(deps: { secret: Uint8Array; clock: Clock; rng: Rng; quoteMs: number }): OptionQuotes {
  const seal = (text: string) =>
    createHmac('sha256', deps.secret).update(`option quote ${text}`).digest().subarray(0, 16)
  return {
    issue: (given) => {
      const terms = { ...given, expiresAtMs: deps.clock.nowMs() + deps.quoteMs }
      const nonce = Buffer.from(deps.rng.bytes(6)).toString('base64url')
      const parts = [terms.symbol, terms.quantity, terms.totalMicro, terms.vaultMicro ?? '', terms.expiresAtMs, nonce]
      const text = Buffer.from(parts.join('|')).toString('base64url')
      return { id: `${text}.${seal(text).toString('base64url')}`, terms }
    },
    open: (id, symbol, quantity) => {
      const terms = quoteIdPattern.test(id) ? read(id, seal) : undefined
      if (!terms)
        throw new Problem(optionProblems.quote_stale, { detail: 'quote_id is not valid. Ask for a new quote.' })
      if (terms.symbol !== symbol || (quantity !== undefined && terms.quantity !== quantity))
        throw new Problem(optionProblems.quote_stale, {
          detail: `The quote is for ${terms.quantity} of ${terms.symbol}.`,
        })
      if (deps.clock.nowMs() >= terms.expiresAtMs)
        throw new Problem(optionProblems.quote_stale, { detail: 'The quote has run out.' })
      return terms
    },
  }
}

function read(id: string, seal: (text: string) => Buffer): QuoteTerms | undefined {
  const [text = '', mac = ''] = id.split('.')
  const given = Buffer.from(mac, 'base64url')
  const expected = seal(text)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const [symbol = '', quantity, total = '0', vault, expires] = Buffer.from(text, 'base64url').toString().split('|')
  return {
    symbol,
    quantity: Number(quantity),
    totalMicro: BigInt(total),
    ...(vault ? { vaultMicro: BigInt(vault) } : {}),
    expiresAtMs: Number(expires),
  }
}
