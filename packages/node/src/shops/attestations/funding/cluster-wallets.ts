/** Wallets and their funders; every wallet gets the name of its cluster, the same for all that money connects. */
export function clusterWallets(edges: readonly { wallet: string; funder: string }[]): (wallet: string) => string {
  const parents = new Map<string, string>()
  const rootOf = (wallet: string): string => {
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
  for (const { wallet, funder } of edges) {
    const [a, b] = [rootOf(wallet), rootOf(funder)]
    if (a !== b) parents.set(a < b ? b : a, a < b ? a : b)
  }
  return rootOf
}
