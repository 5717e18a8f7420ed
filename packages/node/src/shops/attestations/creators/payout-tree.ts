import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { fromHex } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'

/** What an epoch allots to one domain and wallet. */
export type PayoutLeaf = { account: Hex; wallet: Address; micro: Micro }

/** Where a tree is valid: its leaves are bound to one epoch of one contract on one chain. */
export type PayoutPlace = { chainId: number; contract: Address; epoch: bigint }

/** The name of a domain in the contract. */
export const accountOf = (domain: string): Hex => toHex(keccak256(Buffer.from(domain)))

const word = (hex: string) => hex.padStart(64, '0')

/** Twice hashed, so that no inner node can be taken for a leaf. The contract computes the same. */
export function payoutLeafHash({ chainId, contract, epoch }: PayoutPlace, leaf: PayoutLeaf): Buffer {
  const encoded = [
    chainId.toString(16),
    contract.slice(2),
    epoch.toString(16),
    leaf.account.slice(2),
    leaf.wallet.slice(2),
    leaf.micro.toString(16),
  ]
  return keccak256(keccak256(Buffer.from(encoded.map(word).join(''), 'hex')))
}

const joined = (a: Buffer, b: Buffer) => keccak256(Buffer.concat(a.compare(b) < 0 ? [a, b] : [b, a]))

export type PayoutTree = {
  root: Buffer
  potMicro: Micro
  /** In the order in which the contract takes them. */
  leaves: readonly PayoutLeaf[]
  proofs: readonly Hex[][]
}

const orderOf = ({ account, wallet }: PayoutLeaf) => account + wallet

/** Leaves ascend by account and wallet; a node without sibling goes up as it is. */
export function payoutTree(place: PayoutPlace, given: readonly PayoutLeaf[]): PayoutTree {
  const leaves = [...given].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const rows = [leaves.map((leaf) => payoutLeafHash(place, leaf))]
  for (let row = rows[0] as Buffer[]; row.length > 1; ) {
    const next: Buffer[] = []
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at] as Buffer, row[at + 1]]
      next.push(right === undefined ? left : joined(left, right))
    }
    rows.push(next)
    row = next
  }
  return {
    root: rows.at(-1)?.[0] ?? Buffer.alloc(32),
    potMicro: leaves.reduce((sum, { micro }) => sum + micro, 0n),
    leaves,
    proofs: leaves.map((_, index) => proofOf(rows, index)),
  }
}

function proofOf(rows: readonly Buffer[][], index: number): Hex[] {
  const proof: Hex[] = []
  let at = index
  for (const row of rows.slice(0, -1)) {
    const sibling = row[at % 2 === 0 ? at + 1 : at - 1]
    if (sibling) proof.push(toHex(sibling))
    at = Math.floor(at / 2)
  }
  return proof
}

const stepBytes = 32

export const packProof = (proof: readonly Hex[]): Buffer => Buffer.concat(proof.map(fromHex))

export const unpackProof = (packed: Buffer): Hex[] =>
  Array.from({ length: packed.length / stepBytes }, (_, step) =>
    toHex(packed.subarray(step * stepBytes, (step + 1) * stepBytes)),
  )
