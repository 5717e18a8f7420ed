import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'

/** A transaction that no block has taken yet. `sender` and `nonce` are its place in line, which a better paying one may take over. */
export type WaitingTransaction = { hash: Hex; raw: Hex; sender: Address; nonce: number; sinceMs: number }

/**
 * What waits, by hash and by place in line. The engine has its own mempool but finds out what can run by
 * executing all of it, which makes a crowd of pending transactions take minutes.
 */
export type WaitingPool = {
  readonly size: number
  get(hash: Hex): WaitingTransaction | undefined
  /** Takes the place of another transaction with the same sender and nonce. */
  add(transaction: WaitingTransaction): void
  remove(hash: Hex): boolean
  /** The first nonce from `start` on that nothing waits for. */
  nextFreeNonce(sender: Address, start: number): number
  /** In the order in which they came. */
  all(): WaitingTransaction[]
}

export function createWaitingPool(transactions: readonly WaitingTransaction[] = []): WaitingPool {
  const byHash = new Map<Hex, WaitingTransaction>()
  const bySender = new Map<Address, Map<number, Hex>>()

  const remove = (hash: Hex): boolean => {
    const found = byHash.get(hash)
    if (found === undefined) return false
    byHash.delete(hash)
    const places = bySender.get(found.sender)
    places?.delete(found.nonce)
    if (places?.size === 0) bySender.delete(found.sender)
    return true
  }
  const add = (transaction: WaitingTransaction): void => {
    const places = bySender.get(transaction.sender) ?? new Map<number, Hex>()
    const replaced = places.get(transaction.nonce)
    if (replaced !== undefined) byHash.delete(replaced)
    places.set(transaction.nonce, transaction.hash)
    bySender.set(transaction.sender, places)
    byHash.set(transaction.hash, transaction)
  }
  for (const transaction of transactions) add(transaction)

  return {
    get size() {
      return byHash.size
    },
    get: (hash) => byHash.get(hash),
    add,
    remove,
    nextFreeNonce: (sender, start) => {
      const places = bySender.get(sender)
      let nonce = start
      while (places?.has(nonce)) nonce += 1
      return nonce
    },
    all: () => [...byHash.values()],
  }
}
