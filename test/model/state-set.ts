/** States by a hash of 64 bits, with the state each was first reached from and the one that follows by itself. */
export function createStateSet() {
  let capacity = 1 << 16
  let table = new Int32Array(2 * capacity).fill(-1)
  let high = new Uint32Array(capacity)
  let low = new Uint32Array(capacity)
  let parents = new Int32Array(capacity)
  let fairs = new Int32Array(capacity)
  let size = 0

  const placeOf = (one: number, two: number) => {
    const mask = table.length - 1
    let place = one & mask
    for (;;) {
      const index = table[place] as number
      if (index < 0 || (high[index] === one && low[index] === two)) return place
      place = (place + 1) & mask
    }
  }
  const larger = <T extends Uint32Array | Int32Array>(array: T, to: T): T => {
    to.set(array)
    return to
  }
  const grow = () => {
    capacity *= 2
    high = larger(high, new Uint32Array(capacity))
    low = larger(low, new Uint32Array(capacity))
    parents = larger(parents, new Int32Array(capacity))
    fairs = larger(fairs, new Int32Array(capacity))
    table = new Int32Array(2 * capacity).fill(-1)
    for (let index = 0; index < size; index += 1) table[placeOf(high[index] as number, low[index] as number)] = index
  }
  return {
    size: () => size,
    /** The index of a state, and whether it is new. */
    add(hash: Uint32Array, parent: number): { index: number; isNew: boolean } {
      const [one = 0, two = 0] = hash
      const place = placeOf(one, two)
      const known = table[place] as number
      if (known >= 0) return { index: known, isNew: false }
      const index = size
      table[place] = index
      high[index] = one
      low[index] = two
      parents[index] = parent
      fairs[index] = -1
      size += 1
      if (size === capacity) grow()
      return { index, isNew: true }
    },
    indexOf: (hash: Uint32Array): number => table[placeOf(hash[0] as number, hash[1] as number)] as number,
    parentOf: (index: number) => parents[index] as number,
    setFair(index: number, next: number) {
      fairs[index] = next
    },
    /** A state from which what happens by itself goes round in a circle, or -1. */
    firstOnCircle(): number {
      const seen = new Int32Array(size)
      for (let start = 0; start < size; start += 1) {
        let at = start
        while (at >= 0 && seen[at] === 0) {
          seen[at] = start + 1
          at = fairs[at] as number
        }
        if (at >= 0 && seen[at] === start + 1) return at
      }
      return -1
    },
  }
}

export type StateSet = ReturnType<typeof createStateSet>
