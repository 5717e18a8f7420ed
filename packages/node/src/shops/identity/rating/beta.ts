/** The Beta distribution, as far as a rating needs it. */
export function betaMean(a: number, b: number): number {
  return a / (a + b)
}

const bisections = 60

/** The value below which a share of a Beta(a, b) lies; found by halving, which no shape can upset. */
export function betaQuantile(share: number, a: number, b: number): number {
  let low = 0
  let high = 1
  for (let i = 0; i < bisections && high - low > 1e-9; i += 1) {
    const middle = (low + high) / 2
    if (betaCumulative(middle, a, b) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Regularised incomplete beta function. */
export function betaCumulative(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  // The fraction converges fast on one side of the mean only.
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(x, a, b)) / a
    : 1 - (front * continuedFraction(1 - x, b, a)) / b
}

const steps = 300
const tiny = 1e-300

/** Lentz's evaluation of the continued fraction of the incomplete beta function. */
function continuedFraction(x: number, a: number, b: number): number {
  const away = (value: number) => (Math.abs(value) < tiny ? tiny : value)
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= steps; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    const change = d * c
    result *= change
    if (Math.abs(change - 1) < 1e-12) break
  }
  return result
}

const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
]

function logGamma(value: number): number {
  const x = value - 1
  let sum = 0.9999999999998099
  for (const [index, coefficient] of lanczos.entries()) sum += coefficient / (x + index + 1)
  const t = x + lanczos.length - 0.5
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum)
}
