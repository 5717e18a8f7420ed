import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'

/**
 * The accounts of every till. A shop or a payment scheme names its own with `chainAccount` and `unitAccount`.
 *
 * Sign convention, the only one in the code: a debit is positive, a credit is negative. So what we own (asset) and what
 * we spent (expense) have positive balances, what we owe (liability) and what we earned (income) negative ones, and a
 * clearing account returns to zero. Every asset is its own unit: nothing is netted between two of them.
 *
 * `network` is the CAIP-2 id of a chain for its USDC, and the CAIP-19 id of any other dollar there.
 */
export type AccountKind = 'asset' | 'liability' | 'income' | 'expense' | 'clearing'

export type Account = {
  name: string
  kind: AccountKind
  /**
   * `<CAIP-2>/usdc` in micro-USDC, the CAIP-19 id of another dollar in its millionths, `<CAIP-2>/gas` in gwei, or a unit
   * that lives on no chain, such as `points`.
   */
  unit: string
  /** The database keeps its balance and refuses to let what is owed fall below zero. */
  guarded: boolean
}

const networkPattern = /^eip155:[1-9][0-9]{0,18}(\/erc20:0x[0-9a-f]{40})?$/
const addressPattern = /^0x[0-9a-f]{40}$/
const wordPattern = /^[a-z0-9][a-z0-9._-]{0,99}$/

export function chainAccount(
  kind: AccountKind,
  guarded: boolean,
  network: string,
  title: string,
  asset: 'usdc' | 'gas' = 'usdc',
): Account {
  if (!networkPattern.test(network)) throw new RangeError(`not a network: ${network}`)
  if (asset === 'usdc') return { name: `${title}@${network}`, kind, unit: unitOf(network), guarded }
  const chain = chainOfAsset(network)
  return { name: `${title}@${chain}`, kind, unit: `${chain}/gas`, guarded }
}

/** What the dollars kept under `network` are counted in. */
export const unitOf = (network: string): string => (network.includes('/') ? network : `${network}/usdc`)

/** An account in a unit that lives on no chain. */
export function unitAccount(kind: AccountKind, guarded: boolean, unit: string, title: string): Account {
  return { name: title, kind, unit: accountWord(unit), guarded }
}

export function accountOwner(owner: Address): Address {
  if (!addressPattern.test(owner)) throw new RangeError(`accounts are named by lower-case addresses: ${owner}`)
  return owner
}

export function accountWord(text: string): string {
  if (!wordPattern.test(text)) throw new RangeError(`not a word for an account name: ${text}`)
  return text
}

export const accounts = {
  /** USDC at one of our addresses. Debited by a transfer in that we verified on chain, credited by a transfer out. */
  onchain: (network: string, wallet: 'pay_to' | 'custody') =>
    chainAccount('asset', false, network, `onchain:${wallet}`),

  /** Between a settled payment and what it bought. Credited when the money is seen, debited when the sale is posted. */
  clearingPayments: (network: string) => chainAccount('clearing', false, network, 'clearing:payments'),

  /** Between a payout decided and its transfer final. Credited when the debt is taken off, debited by the transfer. */
  clearingPayouts: (network: string) => chainAccount('clearing', false, network, 'clearing:payouts'),

  /** What a route earned. Credited by each sale with the operator's own part, debited by refunds and reorgs. */
  revenue: (network: string, routeId: string) =>
    chainAccount('income', false, network, `revenue:${accountWord(routeId)}`),

  /** A payer's money with us. Credited by top-ups and by payments that bought nothing, debited when spent or refunded. */
  credit: (network: string, payer: Address) =>
    chainAccount('liability', true, network, `credit:${accountOwner(payer)}`),

  /** Credit locked as a bond. Credited from `credit`, debited when it is released there or taken by a ruling. */
  creditBonded: (network: string, payer: Address) =>
    chainAccount('liability', true, network, `credit_bonded:${accountOwner(payer)}`),

  /** Somebody's share. Credited when earned, debited when paid out or reversed. Purpose: creator, affiliate, … */
  payable: (network: string, owner: Address, purpose: string) =>
    chainAccount('liability', true, network, `payable:${accountWord(purpose)}:${accountOwner(owner)}`),

  /** Transfers in that no claim explains. Credited on arrival after finality, debited when an operator decides (`decideReview`); sums of dust stay. */
  unmatched: (network: string, wallet: 'pay_to' | 'custody') =>
    chainAccount('liability', true, network, `unmatched:${wallet}`),

  /** Transfers in between a backup and its restore. Credited on arrival, debited when an operator decides (`decideReview`). */
  restoreGap: (network: string, wallet: 'pay_to' | 'custody') =>
    chainAccount('liability', true, network, `restore_gap:${wallet}`),

  /** Money missing at the custody wallet that a person accepted as lost. Debited then. */
  custodyLoss: (network: string) => chainAccount('expense', false, network, 'loss:custody'),

  /** Paid to facilitators per settlement for sales of a route. Debited by each fee; credited only by a correction. */
  feesFacilitator: (network: string, routeId: string) =>
    chainAccount('expense', false, network, `fees:${accountWord(routeId)}`),

  /** Fees owed to facilitators until they bill. Credited with the expense, debited when the bill is paid. */
  payableFacilitator: (network: string) => chainAccount('liability', false, network, 'payable_facilitator'),

  /** Money that a reorg took after what it bought was used. Debited then; credited if it comes back. */
  reorgLoss: (network: string) => chainAccount('expense', false, network, 'loss:reorg'),

  /** The operator's own stake. Credited when the operator puts money in, debited when it is withdrawn. */
  operator: (network: string, asset: 'usdc' | 'gas') =>
    chainAccount('liability', false, network, `operator:${network.includes('/') ? 'dollar' : asset}`, asset),

  /** Gas money in our sending wallets, in gwei. Debited when topped up, credited when a transaction burns it. */
  gasWallet: (network: string) => chainAccount('asset', false, network, 'gas:wallet', 'gas'),

  /** Gas burnt for sales of a route, in gwei. Debited per transaction we sent, failed ones too. */
  gasSpent: (network: string, routeId: string) =>
    chainAccount('expense', false, network, `gas_spent:${accountWord(routeId)}`, 'gas'),

  /** What somebody got and has to give back. Debited by what could not be taken, credited when later shares set it off. */
  receivable: (network: string, owner: Address, purpose: string) =>
    chainAccount('asset', false, network, `receivable:${accountWord(purpose)}:${accountOwner(owner)}`),
} as const
