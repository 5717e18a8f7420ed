/**
 * Money is an integer count of micro-USDC. Decimal text appears only at the edge; a float never does.
 * One rounding rule for all code: shares floor, the payee takes the rest, so shares always sum to gross.
 */
export type Micro = bigint

/** Largest amount the ledger stores (PostgreSQL bigint). */
export const microMax: Micro = 2n ** 63n - 1n

const microPattern = /^(0|[1-9][0-9]{0,17})$/
const usdPattern = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/

/** Reads `*_micro` text. Undefined for anything but a plain non-negative integer of at most 18 digits. */
export function parseMicro(text: string): Micro | undefined {
  return microPattern.test(text) ? BigInt(text) : undefined
}

/** Reads decimal USD text such as "0.02". More than six decimals is refused rather than rounded. */
export function parseUsd(text: string): Micro | undefined {
  const match = usdPattern.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

/** The shortest decimal USD text: 20000 -> "0.02". */
export function formatUsd(micro: Micro): string {
  const sign = micro < 0n ? '-' : ''
  const absolute = micro < 0n ? -micro : micro
  const fraction = (absolute % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${sign}${absolute / 1_000_000n}${fraction ? `.${fraction}` : ''}`
}

/** Math.min knows no bigint. */
export function smallerOf(a: Micro, b: Micro): Micro {
  return a <= b ? a : b
}

export const bpsWhole = 10_000n

/** Floor of `gross * bps / 10000`. */
export function shareOf(gross: Micro, bps: bigint): Micro {
  if (gross < 0n) throw new RangeError('gross must not be negative')
  if (bps < 0n || bps > bpsWhole) throw new RangeError('bps must be within 0..10000')
  return (gross * bps) / bpsWhole
}

/** Splits gross into a floored share and the payee's remainder. */
export function splitShare(gross: Micro, bps: bigint): { share: Micro; rest: Micro } {
  const share = shareOf(gross, bps)
  return { share, rest: gross - share }
}

/** Equal floors for `count` payees; the remainder goes to the first. */
export function splitEqually(gross: Micro, count: number): Micro[] {
  if (!Number.isSafeInteger(count) || count < 1) throw new RangeError('nothing to split between')
  return splitByWeight(gross, new Array<bigint>(count).fill(1n))
}

/** Floors in proportion to the weights; the remainder goes to the first. */
export function splitByWeight(gross: Micro, weights: readonly bigint[]): Micro[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  if (gross < 0n || whole <= 0n || weights.some((weight) => weight < 0n))
    throw new RangeError('nothing to split between')
  const parts = weights.map((weight) => (gross * weight) / whole)
  const given = parts.reduce((sum, part) => sum + part, 0n)
  parts[0] = (parts[0] as Micro) + gross - given
  return parts
}
