import type { OptionBid, OptionSeriesDetail } from '@assay/sdk'

export type Bid = {
  from: 'vault' | 'book'
  micro: string
  untilMs: number
  /** What is signed: exactly the bid, or no less than it. */
  order: { bid_id: string } | { limit_usd: string; quantity: 1 }
}

/** An order of the book may be taken by others at any moment: the price shown is asked for again after a while. */
const validMs = 60_000

/** The higher of the best order of the book and the vault's bid for one contract. */
export function bestBid(
  bids: OptionSeriesDetail['bids'],
  vault: Pick<OptionBid, 'bid_id' | 'bid_micro' | 'expires_at'> | undefined,
  nowMs: number,
): Bid | undefined {
  const best = bids[0]?.premium_micro
  if (vault && (best === undefined || BigInt(vault.bid_micro) >= BigInt(best)))
    return {
      from: 'vault',
      micro: vault.bid_micro,
      untilMs: Date.parse(vault.expires_at),
      order: { bid_id: vault.bid_id },
    }
  if (best === undefined) return undefined
  return { from: 'book', micro: best, untilMs: nowMs + validMs, order: { limit_usd: usdOf(best), quantity: 1 } }
}

const usdOf = (micro: string): string => {
  const digits = micro.padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
