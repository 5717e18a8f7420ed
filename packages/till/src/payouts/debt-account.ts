import type { Address } from '@assay/protocol/address'
import { type Account, accounts } from '../ledger/index.ts'
import { creditRefundPurposes } from './credit-refund-purposes.ts'

/** What a wallet paid from credit, or with option money, is set off with its credit. */
const paidFromCredit: ReadonlySet<string> = new Set([...creditRefundPurposes, 'option'])

/** Where a payee's debt is booked when it got more than it was owed. */
export function debtAccount(network: string, payee: Address, purpose: string): Account {
  return accounts.receivable(network, payee, paidFromCredit.has(purpose) ? 'credit' : purpose)
}
