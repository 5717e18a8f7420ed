export type Clusters = {
  join(one: string, other: string): void
  /** The same for all that were joined. */
  nameOf(wallet: string): string
}

export function createClusters(): Clusters {
  const parents = new Map<string, string>()
  const nameOf = (wallet: string): string => {
    let root = wallet
    for (let next = parents.get(root); next !== undefined && next !== root; next = parents.get(root)) root = next
    // Anyone who was passed points to the end at once, or long chains would be walked again and again.
    for (let at = wallet; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }
  const join = (one: string, other: string) => {
    const [a, b] = [nameOf(one), nameOf(other)]
    if (a !== b) parents.set(a < b ? b : a, a < b ? a : b)
  }
  return { join, nameOf }
}
