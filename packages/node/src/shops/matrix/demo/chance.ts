/** Chance that depends on nothing but its numbers: the same symbol and day always give the same draw, in any order. */
export function draw(symbol: number, day: number, salt: number): number {
  let h = (symbol * 0x9e3779b1) ^ (day * 0x85ebca6b) ^ (salt * 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return ((h ^ (h >>> 16)) >>> 0) / 4_294_967_296
}

/** Nearly normal, mean 0, deviation 1. */
export function drawNormal(symbol: number, day: number, salt: number): number {
  const sum =
    draw(symbol, day, salt) +
    draw(symbol, day, salt + 101) +
    draw(symbol, day, salt + 211) +
    draw(symbol, day, salt + 307)
  return (sum - 2) * Math.sqrt(3)
}
