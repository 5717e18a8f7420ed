/** The first so many in the order of `compare`, where sorting all would cost more. */
export function bestOf<Kind>(all: readonly Kind[], count: number, compare: (a: Kind, b: Kind) => number): Kind[] {
  const best: Kind[] = []
  for (const one of all) {
    if (best.length === count && (count === 0 || compare(best[count - 1] as Kind, one) <= 0)) continue
    if (best.length < count) best.push(one)
    let at = best.length - 1
    for (; at > 0 && compare(best[at - 1] as Kind, one) > 0; at -= 1) best[at] = best[at - 1] as Kind
    best[at] = one
  }
  return best
}
