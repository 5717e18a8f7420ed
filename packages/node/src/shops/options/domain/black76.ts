import { normalCdf, normalDensity } from './normal.ts'

export type OptionKind = 'C' | 'P'

export type Greeks = {
  /** Per point of the index. */
  delta: number
  gamma: number
  /** Per one (100 %) of volatility. */
  vega: number
  /** Per year. */
  theta: number
}

export type Valued = Greeks & { price: number }

export type BlackInput = {
  kind: OptionKind
  forward: number
  strike: number
  /** 0.9 is 90 % a year. */
  volatility: number
  years: number
  /** Continuous; default: nothing is earned on collateral here, so it is zero. */
  rate?: number
}

/** Black's formula of 1976 for a European option on a forward, with its greeks. */
export function black76({ kind, forward, strike, volatility, years, rate = 0 }: BlackInput): Valued {
  const sign = kind === 'C' ? 1 : -1
  const discount = Math.exp(-rate * Math.max(years, 0))
  const deviation = volatility * Math.sqrt(Math.max(years, 0))
  // A call struck at nothing is the forward itself; a put struck there is worthless.
  if (deviation === 0 || strike <= 0 || forward <= 0) {
    const inTheMoney = sign * (forward - strike)
    const price = discount * Math.max(inTheMoney, 0)
    return { price, delta: inTheMoney > 0 ? sign * discount : 0, gamma: 0, vega: 0, theta: rate * price }
  }
  const d1 = Math.log(forward / strike) / deviation + deviation / 2
  const d2 = d1 - deviation
  const density = normalDensity(d1)
  const price = discount * sign * (forward * normalCdf(sign * d1) - strike * normalCdf(sign * d2))
  return {
    price: Math.max(price, 0),
    delta: discount * sign * normalCdf(sign * d1),
    gamma: (discount * density) / (forward * deviation),
    vega: discount * forward * density * Math.sqrt(years),
    theta: rate * price - (discount * forward * density * volatility) / (2 * Math.sqrt(years)),
  }
}

export type CappedInput = Omit<BlackInput, 'rate'> & {
  /** Points of the index above the strike at which a call pays no more. A put is capped by the index being positive. */
  width: number
}

/** One point of contract size: a put is Black's own, a capped call is the spread of two calls. */
export function cappedValue({ width, ...input }: CappedInput): Valued {
  const near = black76(input)
  if (input.kind === 'P') return near
  const far = black76({ ...input, strike: input.strike + width })
  return {
    price: Math.max(near.price - far.price, 0),
    delta: near.delta - far.delta,
    gamma: near.gamma - far.gamma,
    vega: near.vega - far.vega,
    theta: near.theta - far.theta,
  }
}
