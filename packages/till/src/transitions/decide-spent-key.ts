/** A key that was used before anybody claimed it. */
export type SpentKey = {
  /** What it was used for; not found in the blocks that were searched. */
  use: 'transfer' | 'canceled' | 'absent' | 'could_not_read'
  final: boolean
  /** The transfer brought money to an address of ours. */
  broughtMoney: boolean
  /** It is, or will be, the credit of its sender: too little of a stranger is not. */
  becomesCredit: boolean
}

export type SpentAnswer = 'unknown' | 'used_long_ago' | 'pay_again' | 'dust' | 'credited'

/** Until its block is final a reorganisation could free the key, and the money would move after all. */
export function decideSpentKey({ use, final, broughtMoney, becomesCredit }: SpentKey): SpentAnswer {
  if (use === 'could_not_read') return 'unknown'
  if (use === 'absent') return 'used_long_ago'
  if (!broughtMoney) return final ? 'pay_again' : 'unknown'
  if (!becomesCredit) return final ? 'dust' : 'unknown'
  // Reconciliation books it, after finality and by its own amount: it knows whether the transfer may have been sold or
  // credited already, before a restore or by another database.
  return 'credited'
}
