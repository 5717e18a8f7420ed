export type Terms = { kind: 'call' | 'put'; strike: number; paysUpTo: number; sizeMicro: bigint; premiumMicro: bigint }

const scale = 10_000

/** What one contract brings at an index, premium taken off; never less than the premium lost. */
export function profitMicro(terms: Terms, index: number): bigint {
  const beyond = terms.kind === 'call' ? index - terms.strike : terms.strike - index
  const points = Math.min(Math.max(beyond, 0), terms.paysUpTo)
  return (terms.sizeMicro * BigInt(Math.round(points * scale))) / BigInt(scale) - terms.premiumMicro
}

/** Where the premium is earned back. */
export function breakEven({ kind, strike, sizeMicro, premiumMicro }: Terms): number {
  const points = Number((premiumMicro * BigInt(scale)) / (sizeMicro === 0n ? 1n : sizeMicro)) / scale
  return kind === 'call' ? strike + points : strike - points
}

/** The part of the index worth looking at: strike, break-even and the current index, with room around. */
export function indexRange(terms: Terms, now: number | undefined): [number, number] {
  const even = breakEven(terms)
  const marks = [terms.strike, even, ...(now === undefined ? [] : [now])]
  const spread = Math.max(8, 2.5 * Math.abs(even - terms.strike), 1.4 * (Math.max(...marks) - Math.min(...marks)))
  const middle = (Math.max(...marks) + Math.min(...marks)) / 2
  return [Math.max(0, middle - spread), middle + spread]
}
