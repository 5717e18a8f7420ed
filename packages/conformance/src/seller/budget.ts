import type { Address, Hex } from 'viem'

/** A signature that can move money until it expires, whether or not anybody uses it. */
export type Signature = {
  case: string
  /**
   * A transfer by EIP-3009, one by Permit2, or the allowance that Permit2 needs, which ends with its case; money paid into a
   * channel, and a voucher for a part of it.
   */
  kind: 'authorization' | 'permit' | 'approval' | 'deposit' | 'voucher'
  network: string
  asset: string
  from: Address
  to: string
  value: string
  /** Empty for approvals and vouchers, which have none. */
  nonce: string
  /** Unix seconds; empty for an approval, which is revoked, and for a voucher, which ends with its channel. */
  validBefore: string
  /** For an approval, the signature of its transaction. */
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
