import type { Micro } from '@assay/protocol/money'
import type { OptionKind } from './black76.ts'

/** Index values are counted in ten-thousandths of a point, so that everyone computes the same payoff. */
export type IndexE4 = bigint
export const e4 = 10_000n

/** A call pays at most this many points. */
export const callWidth = 100

export const premiumLowestMicro: Micro = 50_000_000n
export const premiumHighestMicro: Micro = 120_000_000n

/** More collateral than this many premiums is absurd: such a series is not listed. */
export const collateralRatioMax = 30n

export type ContractTerms = {
  kind: OptionKind
  /** Whole points. */
  strike: number
  /** Points of payoff at most: the cap of a call, the strike of a put. */
  width: number
  /** Micro-USDC per point of the index. */
  sizeMicro: Micro
}

export const widthOf = (kind: OptionKind, strike: number): number => (kind === 'C' ? callWidth : strike)

/** The most that one contract can ever pay, and what backs it from the sale to the end. */
export function capOf({ width, sizeMicro }: Pick<ContractTerms, 'width' | 'sizeMicro'>): Micro {
  return BigInt(width) * sizeMicro
}

/** What one contract pays at a value of the index. Rounded down, so that it never exceeds what is locked. */
export function payoffOf(terms: ContractTerms, value: IndexE4): Micro {
  const strike = BigInt(terms.strike) * e4
  const points = terms.kind === 'C' ? value - strike : strike - value
  if (points <= 0n) return 0n
  const most = BigInt(terms.width) * e4
  return ((points < most ? points : most) * terms.sizeMicro) / e4
}

export function isInBand(premiumMicro: Micro): boolean {
  return premiumMicro >= premiumLowestMicro && premiumMicro <= premiumHighestMicro
}

/** Premium of one contract at a price per point; rounded up, so that no fraction of collateral is missing. */
export function premiumOf(pointPrice: number, sizeMicro: Micro): Micro {
  return BigInt(Math.ceil(pointPrice * Number(sizeMicro)))
}

/**
 * The size that makes a contract cost `targetMicro` at this price of a point: the band is reached by size, never by
 * moving the price. Undefined where the collateral would be absurd for the premium.
 */
export function contractSize(
  pointPrice: number,
  kind: OptionKind,
  strike: number,
  targetMicro: Micro,
): Micro | undefined {
  if (!(pointPrice > 0)) return undefined
  const size = Math.floor(Number(targetMicro) / pointPrice)
  if (!Number.isSafeInteger(size) || size < 1) return undefined
  const sizeMicro = BigInt(size)
  const premium = premiumOf(pointPrice, sizeMicro)
  const capMicro = capOf({ width: widthOf(kind, strike), sizeMicro })
  if (!isInBand(premium) || capMicro <= premium || capMicro > collateralRatioMax * premium) return undefined
  return sizeMicro
}

export type SymbolParts = { cluster: string; expiresAtMs: number; strike: number; kind: OptionKind }

const symbolPattern = /^TC-([A-Za-z0-9_-]{1,32})-(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d))?-([1-9]\d{0,3})-([CP])$/

/** The usual hour of expiry is left out of a symbol. */
const defaultHour = 8

export function symbolOf({ cluster, expiresAtMs, strike, kind }: SymbolParts): string {
  return `TC-${cluster}-${expiryText(expiresAtMs)}-${strike}-${kind}`
}

export function expiryText(expiresAtMs: number): string {
  const at = new Date(expiresAtMs)
  const two = (value: number) => value.toString().padStart(2, '0')
  const day = `${at.getUTCFullYear()}${two(at.getUTCMonth() + 1)}${two(at.getUTCDate())}`
  const usual = at.getUTCHours() === defaultHour && at.getUTCMinutes() === 0
  return usual ? day : `${day}${two(at.getUTCHours())}${two(at.getUTCMinutes())}`
}

export function parseSymbol(text: string): SymbolParts | undefined {
  const match = symbolPattern.exec(text)
  if (!match) return undefined
  const [, cluster = '', year, month, day, hour, minute, strike, kind] = match
  const expiresAtMs = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    hour === undefined ? defaultHour : Number(hour),
    minute === undefined ? 0 : Number(minute),
  )
  const parts = { cluster, expiresAtMs, strike: Number(strike), kind: kind as OptionKind }
  // 31 February and 08:00 written out are other names of something that has one already.
  return symbolOf(parts) === text ? parts : undefined
}
