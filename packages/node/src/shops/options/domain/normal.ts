const inverseRootTwoPi = 0.3989422804014327

export function normalDensity(x: number): number {
  return inverseRootTwoPi * Math.exp(-0.5 * x * x)
}

/** Beyond this the series below loses digits to cancellation and the continued fraction converges quickly. */
const seriesLimit = 3

/** Cumulative normal distribution, to about 15 digits: Taylor around zero, a continued fraction in the tails. */
export function normalCdf(x: number): number {
  if (x > seriesLimit) return 1 - upperTail(x)
  if (x < -seriesLimit) return upperTail(-x)
  let term = x
  let sum = x
  for (let n = 1; n < 200; n += 1) {
    term *= (x * x) / (2 * n + 1)
    sum += term
    if (Math.abs(term) < 1e-17 * Math.abs(sum)) break
  }
  return 0.5 + sum * normalDensity(x)
}

/** Mills' ratio by Laplace's continued fraction, from the inside out. */
function upperTail(x: number): number {
  if (x > 38) return 0
  let fraction = x
  // The further out, the fewer steps: tried against twice as many, the last digit is the same.
  for (let n = Math.ceil(12 + 480 / (x * x)); n >= 1; n -= 1) fraction = x + n / fraction
  return normalDensity(x) / fraction
}
