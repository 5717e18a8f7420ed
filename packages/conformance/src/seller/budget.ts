import type { Address, Hex } from 'viem'

/** A signature that can move money until it expires, whether or not anybody uses it. */
export type Signature = {
  case: string
  network: string
  asset: string
  from: Address
  to: string
  value: string
  nonce: string
  validBefore: string
  signature: Hex
}

export class BudgetExceeded extends Error {}

export type Budget = {
  /** Throws before anything is signed with which more than the cap could be taken. */
  reserve(value: bigint): void
  record(signature: Signature): void
  signatures(): readonly Signature[]
}

/** The cap counts everything that is signed, not what is taken; what has expired is not given back. */
export function createBudget(capMicro: bigint): Budget {
  const signatures: Signature[] = []
  let signed = 0n
  return {
    reserve(value) {
      if (signed + value > capMicro)
        throw new BudgetExceeded(`signing ${value} more units would exceed the cap of ${capMicro}`)
      signed += value
    },
    record: (signature) => void signatures.push(signature),
    signatures: () => signatures,
  }
}
