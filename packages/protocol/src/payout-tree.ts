import type { Address } from './address.ts'
import { concatBytes, fromHex, type Hex, toHex, utf8 } from './bytes.ts'
import { type Hash, keccak256 } from './hash.ts'
import type { Micro } from './money.ts'
import { addressWord, uintWord } from './typed-data/words.ts'

/** What an epoch allots to one domain and wallet. */
export type PayoutLeaf = { account: Hex; wallet: Address; micro: Micro }

/** Where a tree is valid: its leaves are bound to one epoch of one contract on one chain. */
export type PayoutPlace = { chainId: number; contract: Address; epoch: bigint }

/** The name of a domain in the contract. */
export const accountOf = (domain: string, keccak: Hash = keccak256): Hex => toHex(keccak(utf8(domain)))

/** Twice hashed, so that no inner node can be mistaken for a leaf. The contract computes the same. */
export function payoutLeafHash(place: PayoutPlace, leaf: PayoutLeaf, keccak: Hash = keccak256): Uint8Array {
  return keccak(
    keccak(
      concatBytes(
        uintWord(place.chainId),
        addressWord(place.contract),
        uintWord(place.epoch),
        fromHex(leaf.account),
        addressWord(leaf.wallet),
        uintWord(leaf.micro),
      ),
    ),
  )
}

export type PayoutTree = {
  root: Uint8Array
  potMicro: Micro
  /** In the order in which the contract takes them. */
  leaves: readonly PayoutLeaf[]
  proofs: readonly Hex[][]
}

const orderOf = ({ account, wallet }: PayoutLeaf) => (account + wallet).toLowerCase()

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number)
  return 0
}

const joined = (a: Uint8Array, b: Uint8Array, keccak: Hash) =>
  keccak(compareBytes(a, b) < 0 ? concatBytes(a, b) : concatBytes(b, a))

/** Leaves ascend by account and wallet; a node without sibling goes up as it is. */
export function payoutTree(place: PayoutPlace, given: readonly PayoutLeaf[], keccak: Hash = keccak256): PayoutTree {
  const leaves = [...given].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const rows = [leaves.map((leaf) => payoutLeafHash(place, leaf, keccak))]
  for (let row = rows[0] as Uint8Array[]; row.length > 1; ) {
    const next: Uint8Array[] = []
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at] as Uint8Array, row[at + 1]]
      next.push(right === undefined ? left : joined(left, right, keccak))
    }
    rows.push(next)
    row = next
  }
  return {
    root: rows.at(-1)?.[0] ?? new Uint8Array(32),
    potMicro: leaves.reduce((sum, { micro }) => sum + micro, 0n),
    leaves,
    proofs: leaves.map((_, index) => proofOf(rows, index)),
  }
}

function proofOf(rows: readonly Uint8Array[][], index: number): Hex[] {
  const proof: Hex[] = []
  let at = index
  for (const row of rows.slice(0, -1)) {
    const sibling = row[at % 2 === 0 ? at + 1 : at - 1]
    if (sibling) proof.push(toHex(sibling))
    at = Math.floor(at / 2)
  }
  return proof
}
