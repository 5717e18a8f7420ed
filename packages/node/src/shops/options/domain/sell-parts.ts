/** Contracts of a position that one writer wrote; null: the vault. */
export type Part = { place: number; order_id: string | null; writer: string; quantity: number }
export type Bid = { wallet: string; open_quantity: number }

export type Sale<P extends Part, B extends Bid> = { bid: B; part: P; quantity: number; isBoughtBack: boolean }

/**
 * Which contracts go to which order, best order first. A writer who orders gets its own contracts first: they end with
 * that and need no room. `roomOf` says how many more contracts a wallet may hold.
 */
export function sellParts<P extends Part, B extends Bid>(
  parts: readonly P[],
  bids: readonly B[],
  wanted: number,
  roomOf: (wallet: string) => number,
): Sale<P, B>[] {
  const left = new Map(parts.map(({ place, quantity }) => [place, quantity]))
  const rooms = new Map<string, number>()
  const sales: Sale<P, B>[] = []
  let unsold = wanted
  for (const bid of bids) {
    let open = bid.open_quantity
    const isOwn = (part: P) => part.order_id !== null && part.writer === bid.wallet
    for (const part of [...parts].sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)))) {
      const isBoughtBack = isOwn(part)
      const room = isBoughtBack ? open : (rooms.get(bid.wallet) ?? roomOf(bid.wallet))
      const quantity = Math.min(unsold, open, room, left.get(part.place) ?? 0)
      if (quantity <= 0) continue
      sales.push({ bid, part, quantity, isBoughtBack })
      left.set(part.place, (left.get(part.place) ?? 0) - quantity)
      if (!isBoughtBack) rooms.set(bid.wallet, room - quantity)
      open -= quantity
      unsold -= quantity
    }
  }
  return sales
}
