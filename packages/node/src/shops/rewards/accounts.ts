import type { Address } from '@assay/protocol/address'
import { accountOwner, accountWord, chainAccount, unitAccount } from '@assay/till/ledger'

export const rewardAccounts = {
  /**
   * An affiliate's share during its hold. Credited with the sale, debited when it becomes payable or is reversed, each
   * time by a row that knows its own amount; without a kept balance, for all sales of a busy affiliate would queue up at it.
   */
  affiliatePending: (network: string, owner: Address) =>
    chainAccount('liability', false, network, `payable:affiliate_pending:${accountOwner(owner)}`),
  /** What affiliates cost us. Debited with each share, credited when a share is reversed. */
  affiliateExpense: (network: string, routeId: string) =>
    chainAccount('expense', false, network, `affiliate_expense:${accountWord(routeId)}`),
  /** A wallet's points. Credited when earned, debited when redeemed or reversed. */
  points: (owner: Address) => unitAccount('liability', true, 'points', `points:${accountOwner(owner)}`),
  /** Every point ever given. Debited when points arise, credited when their reason is reversed. */
  pointsIssued: () => unitAccount('expense', false, 'points', 'points_issued'),
  /** Every point ever used. Credited by redemptions. */
  pointsRedeemed: () => unitAccount('income', false, 'points', 'points_redeemed'),
  /** Points that were used before their reason was reversed. Debited then, credited when later points set it off. */
  pointsReceivable: (owner: Address) =>
    unitAccount('asset', false, 'points', `points_receivable:${accountOwner(owner)}`),
} as const
