import { type Micro, smallerOf } from '@assay/protocol/money'

/** What the vault pays of the model's price when it buys back. */
export const bidPercent = 95n

export type Bought = { writtenMicro: Micro; paidMicro: Micro }

/**
 * What the vault pays to have contracts of its own back: a little less than their value, and never more than it got for
 * them or than their holder paid. So nobody earns from an index that is pushed for an hour, nor by selling the contracts
 * to an own wallet at a higher price first.
 */
export function vaultBid(valueMicro: Micro, { writtenMicro, paidMicro }: Bought): Micro {
  return smallerOf((valueMicro * bidPercent) / 100n, smallerOf(writtenMicro, paidMicro))
}
