import { createInnerProducts, type InnerProducts } from './inner-products.ts'
import type { LatentSpace } from './latent-space.ts'
import { byTotal, type IndexPart, type Rescored, type RescoreInput, type RescoreWeights } from './rescore.ts'

/** Only the first so many are compared with each other: the others are not shown anyway. */
const comparedMax = 100

type Near = { at: Int32Array; cosine: Float64Array }

/** Pages that say the same lend each other their score: one of several that agree is worth more than one that is alone. */
export function addNeighbours({ parts, space }: RescoreInput, found: Rescored[], weights: RescoreWeights): void {
  found.sort(byTotal)
  const compared = found.slice(0, comparedMax)
  const count = compared.length
  const products = productsOf(parts, compared, space as LatentSpace)
  const lengths = Float64Array.from(compared, (_, at) => Math.sqrt(products[at * count + at] as number))
  const nearest = weights.neighbourCount
  const near = compared.map((): Near => ({ at: new Int32Array(nearest).fill(-1), cosine: new Float64Array(nearest) }))
  // What a page must be nearer than: most pairs end here.
  const least = new Float64Array(count)
  for (let a = 0; a < count; a += 1)
    for (let b = a + 1; b < count; b += 1) {
      const product = products[a * count + b] as number
      if (product <= 0) continue
      const cosine = product / ((lengths[a] as number) * (lengths[b] as number))
      if (cosine > (least[a] as number)) least[a] = keepNearest(near[a] as Near, b, cosine)
      if (cosine > (least[b] as number)) least[b] = keepNearest(near[b] as Near, a, cosine)
    }
  const totals = compared.map(({ total }) => total)
  compared.forEach((one, at) => {
    const { at: others, cosine } = near[at] as Near
    let sum = 0
    let weight = 0
    others.forEach((other, n) => {
      if (other < 0) return
      sum += (cosine[n] as number) * (totals[other] as number)
      weight += cosine[n] as number
    })
    one.parts.neighbours = weight === 0 ? 0 : sum / weight
    one.total += weights.neighbours * one.parts.neighbours
  })
}

/** The least that is kept then. */
function keepNearest({ at, cosine }: Near, other: number, value: number): number {
  const last = at.length - 1
  let place = last
  while (place > 0 && (cosine[place - 1] as number) < value) {
    at[place] = at[place - 1] as number
    cosine[place] = cosine[place - 1] as number
    place -= 1
  }
  at[place] = other
  cosine[place] = value
  return cosine[last] as number
}

/** The vectors side by side, multiplied by each other. */
function productsOf(parts: readonly IndexPart[], compared: readonly Rescored[], space: LatentSpace): Int32Array {
  const { dims } = space
  const known = multipliers.get(space) ?? createInnerProducts(comparedMax, dims)
  multipliers.set(space, known)
  const { vectors, stride, multiply } = known
  compared.forEach(({ hit }, at) => {
    const latent = parts[hit.segment]?.latent
    if (latent) vectors.set(latent.subarray(hit.doc * dims, (hit.doc + 1) * dims), at * stride)
    else vectors.fill(0, at * stride, (at + 1) * stride)
  })
  return multiply(compared.length)
}

const multipliers = new WeakMap<LatentSpace, InnerProducts>()
