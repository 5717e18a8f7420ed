import type { Rng } from '@assay/till/kernel/random'

/** A positive fraction, so that the sampler works with whole numbers only. */
export type Ratio = { num: bigint; den: bigint }

/**
 * Exact samples of P(x) ~ exp(-|x| * rate): integers only, no floating point, so that no digit of the noise tells about
 * the count below it (Canonne, Kamath and Steinke 2020, algorithms 1 and 2).
 */
export function sampleDiscreteLaplace(rng: Rng, rate: Ratio): number {
  const { num: s, den: t } = rate
  if (s <= 0n || t <= 0n) throw new RangeError('the rate of the noise must be positive')
  for (;;) {
    const u = uniformBelow(rng, t)
    if (!bernoulliExp(rng, u, t)) continue
    let v = 0n
    while (bernoulliExp(rng, 1n, 1n)) v += 1n
    const size = (u + t * v) / s
    const negative = uniformBelow(rng, 2n) === 1n
    // Zero would come up with either sign and be twice as likely as it should be.
    if (negative && size === 0n) continue
    return Number(negative ? -size : size)
  }
}

/** True with probability exp(-num/den), for any fraction not below zero. */
export function bernoulliExp(rng: Rng, num: bigint, den: bigint): boolean {
  for (let left = num; left > den; left -= den) if (!bernoulliExpBelowOne(rng, 1n, 1n)) return false
  return bernoulliExpBelowOne(rng, num > den ? ((num - 1n) % den) + 1n : num, den)
}

function bernoulliExpBelowOne(rng: Rng, num: bigint, den: bigint): boolean {
  let k = 1n
  while (uniformBelow(rng, den * k) < num) k += 1n
  return k % 2n === 1n
}

/** Every value below `limit` alike: what does not fit is drawn again. */
export function uniformBelow(rng: Rng, limit: bigint): bigint {
  if (limit === 1n) return 0n
  if (limit <= smallMax) return BigInt(smallBelow(rng, Number(limit)))
  const bits = (limit - 1n).toString(2).length
  const length = Math.ceil(bits / 8)
  const mask = (1n << BigInt(bits)) - 1n
  for (;;) {
    let value = 0n
    for (const byte of rng.bytes(length)) value = (value << 8n) | BigInt(byte)
    value &= mask
    if (value < limit) return value
  }
}

const smallMax = 1n << 32n

/** The same from the same bytes, in integers of 32 bits: nearly every draw is one of these. */
function smallBelow(rng: Rng, limit: number): number {
  const bits = 32 - Math.clz32(limit - 1)
  const length = Math.ceil(bits / 8)
  const mask = 2 ** bits - 1
  for (;;) {
    let value = 0
    for (const byte of rng.bytes(length)) value = (value << 8) | byte
    value = (value & mask) >>> 0
    if (value < limit) return value
  }
}
