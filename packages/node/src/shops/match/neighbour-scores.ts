import { createInnerProducts, type InnerProducts } from './inner-products.ts'
import type { LatentSpace } from './latent-space.ts'
import { byTotal, type IndexPart, type Rescored, type RescoreInput, type RescoreWeights } from './rescored.ts'

/** Only the first so many are compared with each other: the others are not shown anyway. */
const comparedMax = 100

/** Pages that say the same lend each other their score: one of several that agree is worth more than one that is alone. */
export function addNeighbours(
  { parts, space }: RescoreInput,
  /** Best first. */
  found: readonly Rescored[],
  { neighbours, neighbourCount }: RescoreWeights,
): Rescored[] {
  const compared = found.slice(0, comparedMax)
  const nearest = nearestOf(productsOf(parts, compared, space as LatentSpace), compared.length, neighbourCount)
  const totals = compared.map(({ total }) => total)
  compared.forEach((one, page) => {
    let sum = 0
    let weight = 0
    for (let at = page * neighbourCount; at < (page + 1) * neighbourCount; at += 1) {
      const cosine = nearest.cosines[at] as number
      sum += cosine * (totals[nearest.pages[at] as number] as number)
      weight += cosine
    }
    one.parts.neighbours = weight === 0 ? 0 : sum / weight
    one.total += neighbours * one.parts.neighbours
  })
  // They only gained, so the others still come after them.
  return [...compared.sort(byTotal), ...found.slice(comparedMax)]
}

/** A fixed number of neighbours for each page, nearest first; a cosine of 0 means that there is none. */
type Nearest = { pages: Int32Array; cosines: Float64Array }

function nearestOf(products: Int32Array, count: number, wanted: number): Nearest {
  const nearest = { pages: new Int32Array(count * wanted), cosines: new Float64Array(count * wanted) }
  const inverse = new Float64Array(count)
  for (let page = 0; page < count; page += 1) inverse[page] = 1 / Math.sqrt(products[page * count + page] as number)
  // What a page must be nearer than: most pairs end here.
  const least = new Float64Array(count)
  for (let a = 0; a < count; a += 1)
    for (let b = a + 1; b < count; b += 1) {
      const product = products[a * count + b] as number
      if (product <= 0) continue
      const cosine = product * (inverse[a] as number) * (inverse[b] as number)
      if (cosine > (least[a] as number)) least[a] = keepNearest(nearest, a * wanted, wanted, b, cosine)
      if (cosine > (least[b] as number)) least[b] = keepNearest(nearest, b * wanted, wanted, a, cosine)
    }
  return nearest
}

/** The least that is kept then. */
function keepNearest({ pages, cosines }: Nearest, from: number, wanted: number, other: number, value: number): number {
  const last = from + wanted - 1
  let place = last
  while (place > from && (cosines[place - 1] as number) < value) {
    pages[place] = pages[place - 1] as number
    cosines[place] = cosines[place - 1] as number
    place -= 1
  }
  pages[place] = other
  cosines[place] = value
  return cosines[last] as number
}

/** The vectors side by side, multiplied by each other. */
function productsOf(parts: readonly IndexPart[], compared: readonly Rescored[], space: LatentSpace): Int32Array {
  const { dims } = space
  const known = multipliers.get(space) ?? createInnerProducts(comparedMax, dims)
  multipliers.set(space, known)
  const { vectors, stride, multiply } = known
  compared.forEach(({ hit }, at) => {
    const latent = parts[hit.segment]?.latent
    const from = hit.doc * dims
    for (let dim = 0; dim < dims; dim += 1) vectors[at * stride + dim] = latent ? (latent[from + dim] as number) : 0
  })
  return multiply(compared.length)
}

const multipliers = new WeakMap<LatentSpace, InnerProducts>()
