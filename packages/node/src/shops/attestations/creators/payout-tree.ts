import type { Address } from '@assay/till/kernel/address'
import { type Hex, toHex } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import type { Micro } from '@assay/till/kernel/money'

export type PayoutLeaf = { wallet: Address; cumulativeMicro: Micro }

/** Where a tree is valid: its leaves are bound to one contract on one chain. */
export type PayoutPlace = { chainId: number; contract: Address }

/** Twice hashed, so that no inner node can be taken for a leaf. The contract computes the same. */
export function payoutLeafHash({ chainId, contract }: PayoutPlace, leaf: PayoutLeaf): Buffer {
  const word = (hex: string) => hex.padStart(64, '0')
  const encoded =
    word(chainId.toString(16)) +
    word(contract.slice(2)) +
    word(leaf.wallet.slice(2)) +
    word(leaf.cumulativeMicro.toString(16))
  return keccak256(keccak256(Buffer.from(encoded, 'hex')))
}

const joined = (a: Buffer, b: Buffer) => keccak256(Buffer.concat(a.compare(b) < 0 ? [a, b] : [b, a]))

export type PayoutTree = {
  root: Buffer
  totalMicro: Micro
  cumulativeOf(wallet: Address): Micro | undefined
  proofOf(wallet: Address): Hex[] | undefined
}

/** Leaves in the order of their wallets; a node without sibling goes up as it is. */
export function payoutTree(place: PayoutPlace, leaves: readonly PayoutLeaf[]): PayoutTree {
  const ordered = [...leaves].sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
  const rows = [ordered.map((leaf) => payoutLeafHash(place, leaf))]
  for (let row = rows[0] as Buffer[]; row.length > 1; ) {
    const next: Buffer[] = []
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at] as Buffer, row[at + 1]]
      next.push(right === undefined ? left : joined(left, right))
    }
    rows.push(next)
    row = next
  }
  const places = new Map(ordered.map((leaf, index) => [leaf.wallet, index]))
  return {
    root: rows.at(-1)?.[0] ?? Buffer.alloc(32),
    totalMicro: ordered.reduce((sum, leaf) => sum + leaf.cumulativeMicro, 0n),
    cumulativeOf: (wallet) => ordered[places.get(wallet) ?? -1]?.cumulativeMicro,
    proofOf: (wallet) => {
      let at = places.get(wallet)
      if (at === undefined) return undefined
      const proof: Hex[] = []
      for (const row of rows.slice(0, -1)) {
        const sibling = row[at % 2 === 0 ? at + 1 : at - 1]
        if (sibling) proof.push(toHex(sibling))
        at = Math.floor(at / 2)
      }
      return proof
    },
  }
}
