import type { LatentSpace } from './latent-space.ts'
import { byTotal, type IndexPart, type Rescored, type RescoreInput, type RescoreWeights } from './rescore.ts'

/** Only the first so many are compared with each other: the others are not shown anyway. */
const comparedMax = 100

type Near = { at: Int32Array; cosine: Float64Array }

/** Pages that say the same lend each other their score: one of several that agree is worth more than one that is alone. */
export function addNeighbours({ parts, space }: RescoreInput, found: Rescored[], weights: RescoreWeights): void {
  const { dims } = space as LatentSpace
  found.sort(byTotal)
  const compared = found.slice(0, comparedMax)
  const { values, lengths } = copyVectors(parts, compared, dims)
  const count = weights.neighbourCount
  const near = compared.map((): Near => ({ at: new Int32Array(count).fill(-1), cosine: new Float64Array(count) }))
  for (let a = 0; a < compared.length; a += 1)
    for (let b = a + 1; b < compared.length; b += 1) {
      const product = innerProduct(values, a * dims, b * dims, dims)
      if (product <= 0) continue
      const cosine = product / ((lengths[a] as number) * (lengths[b] as number))
      keepNearest(near[a] as Near, b, cosine)
      keepNearest(near[b] as Near, a, cosine)
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

function keepNearest({ at, cosine }: Near, other: number, value: number): void {
  let place = at.length - 1
  if (value <= (cosine[place] as number)) return
  while (place > 0 && (cosine[place - 1] as number) < value) {
    at[place] = at[place - 1] as number
    cosine[place] = cosine[place - 1] as number
    place -= 1
  }
  at[place] = other
  cosine[place] = value
}

/** Side by side, so that comparing all with all stays in the cache. */
function copyVectors(parts: readonly IndexPart[], compared: readonly Rescored[], dims: number) {
  const values = new Int8Array(compared.length * dims)
  const lengths = new Float64Array(compared.length)
  compared.forEach(({ hit }, at) => {
    const latent = parts[hit.segment]?.latent
    if (latent) values.set(latent.subarray(hit.doc * dims, (hit.doc + 1) * dims), at * dims)
    lengths[at] = Math.sqrt(innerProduct(values, at * dims, at * dims, dims))
  })
  return { values, lengths }
}

/** Four sums at a time, which do not wait for each other: a third of the work of a search is done here. */
function innerProduct(values: Int8Array, a: number, b: number, dims: number): number {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  const whole = dims & ~3
  for (let dim = 0; dim < whole; dim += 4) {
    first = (first + Math.imul(values[a + dim] as number, values[b + dim] as number)) | 0
    second = (second + Math.imul(values[a + dim + 1] as number, values[b + dim + 1] as number)) | 0
    third = (third + Math.imul(values[a + dim + 2] as number, values[b + dim + 2] as number)) | 0
    fourth = (fourth + Math.imul(values[a + dim + 3] as number, values[b + dim + 3] as number)) | 0
  }
  for (let dim = whole; dim < dims; dim += 1)
    first = (first + Math.imul(values[a + dim] as number, values[b + dim] as number)) | 0
  return first + second + third + fourth
}
