import type { Offer } from '../payment-required.ts'

export type CreditOptions =
  /** The wallet's own credit, when it is enough. */
  | 'prefer'
  /** The credit of the party that gave this mandate, and nothing else. */
  | { mandate: string }

/** What a client has learned about credit on its way. */
export type CreditState = {
  mandate: string | undefined
  /** The wallet's own balance by origin, the larger of its chains; unknown until it was asked for. */
  balances: Map<string, bigint>
  /** The last credit offer of a route, so that the next call needs no question before it. */
  offers: Map<string, Offer>
}

export function createCreditState(options: CreditOptions): CreditState {
  return { mandate: options === 'prefer' ? undefined : options.mandate, balances: new Map(), offers: new Map() }
}

const offersMax = 512

export const routeKey = (method: string, url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${method} ${origin}${pathname}`
}

export function rememberOffer(state: CreditState, key: string, offer: Offer): void {
  state.offers.delete(key)
  state.offers.set(key, offer)
  if (state.offers.size > offersMax) state.offers.delete(state.offers.keys().next().value as string)
}
