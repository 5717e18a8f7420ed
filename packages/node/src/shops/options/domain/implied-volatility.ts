import { type CappedInput, cappedValue } from './black76.ts'

const lowest = 0.01
const highest = 5
const step = 1.1
const exactEnough = 1e-9

/**
 * The volatility at which the model gives this price of a point. A capped call has up to two: the one nearest to
 * `input.volatility` is taken. Undefined where no volatility from 1 % to 500 % gives it.
 */
export function impliedVolatility(price: number, input: CappedInput): number | undefined {
  const missing = (volatility: number) => cappedValue({ ...input, volatility }).price - price
  const start = Math.min(Math.max(input.volatility, lowest), highest)
  const first = missing(start)
  if (Math.abs(first) < exactEnough) return start
  let [low, high] = [start, start]
  let [atLow, atHigh] = [first, first]
  // Outwards in equal steps of the logarithm, so that the first crossing is the nearest.
  while (low > lowest || high < highest) {
    const above = Math.min(high * step, highest)
    const atAbove = missing(above)
    if (atHigh * atAbove <= 0) return bisect(missing, high, above)
    const below = Math.max(low / step, lowest)
    const atBelow = missing(below)
    if (atLow * atBelow <= 0) return bisect(missing, below, low)
    ;[low, high, atLow, atHigh] = [below, above, atBelow, atAbove]
  }
  return undefined
}

function bisect(missing: (volatility: number) => number, from: number, to: number): number {
  let [low, high] = [from, to]
  const sign = Math.sign(missing(low))
  for (let round = 0; round < 40; round += 1) {
    const middle = (low + high) / 2
    if (Math.sign(missing(middle)) === sign) low = middle
    else high = middle
  }
  return (low + high) / 2
}
