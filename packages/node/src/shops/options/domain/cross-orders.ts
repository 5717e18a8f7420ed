/** Orders of one series. Both kinds count their places by the changes of the series, so the earlier one is known. */
export type BuyOrder = { id: string; wallet: string; price: number; seq: number; quantity: number }
/** `isHeld`: contracts that exist already and change their holder; others are written when they are sold. */
export type SellOrder = BuyOrder & { isHeld?: boolean }

export type Match = {
  buyId: string
  /** Null: written by the vault. */
  sellId: string | null
  quantity: number
  /** Of one contract: that of the order which was there first, or the vault's. */
  price: number
}

export type Crossing = {
  /** Highest price first, oldest first at a price. */
  buys: readonly BuyOrder[]
  /** Lowest price first, oldest first at a price. */
  sells: readonly SellOrder[]
  vault?: { price: number; quantity: number }
  /** Contracts that a wallet may still hold, and that may still be written. */
  roomOf(wallet: string): number
  room: number
}

/** Everything that can be matched now. Nobody trades with itself, and the vault sells only what no other sells as cheaply. */
export function crossOrders({ buys, sells, vault, roomOf, room }: Crossing): Match[] {
  const left = new Map(sells.map(({ id, quantity }) => [id, quantity]))
  const bought = new Map<string, number>()
  const matches: Match[] = []
  let vaultLeft = vault?.quantity ?? 0
  let roomLeft = room
  for (const buy of buys) {
    let wanted = Math.min(buy.quantity, roomOf(buy.wallet) - (bought.get(buy.wallet) ?? 0))
    const take = (sellId: string | null, offered: number, price: number, isHeld = false): number => {
      const quantity = Math.min(wanted, offered, isHeld ? offered : roomLeft)
      if (quantity <= 0) return 0
      matches.push({ buyId: buy.id, sellId, quantity, price })
      bought.set(buy.wallet, (bought.get(buy.wallet) ?? 0) + quantity)
      wanted -= quantity
      if (!isHeld) roomLeft -= quantity
      return quantity
    }
    const useVault = () => {
      if (vault && vault.price <= buy.price) vaultLeft -= take(null, vaultLeft, vault.price)
    }
    for (const sell of sells) {
      if (sell.price > buy.price) break
      if (sell.wallet === buy.wallet) continue
      if (vault && sell.price > vault.price) useVault()
      const open = left.get(sell.id) ?? 0
      left.set(sell.id, open - take(sell.id, open, sell.seq < buy.seq ? sell.price : buy.price, sell.isHeld))
    }
    useVault()
  }
  return matches
}
