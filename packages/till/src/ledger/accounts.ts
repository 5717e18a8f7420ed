import type { Address } from '../kernel/address.ts'

/**
 * Every account of the books is named here and nowhere else.
 *
 * Sign convention, the only one in the house: a debit is positive, a credit is negative. So what we own (asset) and what
 * we spent (expense) have positive balances, what we owe (liability) and what we earned (income) negative ones, and a
 * clearing account returns to zero. Units of different chains are different units: nothing is netted between them.
 */
export type AccountKind = 'asset' | 'liability' | 'income' | 'expense' | 'clearing'

export type Account = {
  name: string
  kind: AccountKind
  /** `<CAIP-2>/usdc` in micro-USDC, `<CAIP-2>/gas` in gwei, or `points`, which live on no chain. */
  unit: string
  /** The database keeps its balance and refuses to let what is owed fall below zero. */
  guarded: boolean
}

const networkPattern = /^eip155:[1-9][0-9]{0,18}$/
const addressPattern = /^0x[0-9a-f]{40}$/
const domainPattern = /^[a-z0-9.-]{1,253}$/
const wordPattern = /^[a-z0-9][a-z0-9._-]{0,99}$/
const seriesPattern = /^TC-[A-Za-z0-9_-]{1,60}$/

function account(kind: AccountKind, guarded: boolean, network: string, title: string, asset: 'usdc' | 'gas'): Account {
  if (!networkPattern.test(network)) throw new RangeError(`not a network: ${network}`)
  return { name: `${title}@${network}`, kind, unit: `${network}/${asset}`, guarded }
}

function pointsAccount(kind: AccountKind, guarded: boolean, title: string): Account {
  return { name: title, kind, unit: 'points', guarded }
}

function address(owner: Address): Address {
  if (!addressPattern.test(owner)) throw new RangeError(`accounts are named by lower-case addresses: ${owner}`)
  return owner
}

function word(text: string): string {
  if (!wordPattern.test(text)) throw new RangeError(`not a word for an account name: ${text}`)
  return text
}

function domainName(text: string): string {
  if (!domainPattern.test(text)) throw new RangeError(`not a domain for an account name: ${text}`)
  return text
}

function series(text: string): string {
  if (!seriesPattern.test(text)) throw new RangeError(`not a series for an account name: ${text}`)
  return text
}

export const accounts = {
  /** USDC at one of our addresses. Debited by a transfer in that we verified on chain, credited by a transfer out. */
  onchain: (network: string, wallet: 'pay_to' | 'custody') =>
    account('asset', false, network, `onchain:${wallet}`, 'usdc'),

  /** Between a settled payment and what it bought. Credited when the money is seen, debited when the sale is posted. */
  clearingPayments: (network: string) => account('clearing', false, network, 'clearing:payments', 'usdc'),

  /** Between a payout decided and its transfer final. Credited when the debt is taken off, debited by the transfer. */
  clearingPayouts: (network: string) => account('clearing', false, network, 'clearing:payouts', 'usdc'),

  /** What a route earned. Credited by each sale with the operator's own part, debited by refunds and reorgs. */
  revenue: (network: string, routeId: string) => account('income', false, network, `revenue:${word(routeId)}`, 'usdc'),

  /** A payer's money with us. Credited by top-ups and by payments that bought nothing, debited when spent or refunded. */
  credit: (network: string, payer: Address) => account('liability', true, network, `credit:${address(payer)}`, 'usdc'),

  /** Credit set aside for a call under way. Credited from `credit` by the hold, debited by its capture or release. */
  creditHeld: (network: string, payer: Address) =>
    account('liability', true, network, `credit_held:${address(payer)}`, 'usdc'),

  /** Credit locked as a bond. Credited from `credit`, debited when it is released there or taken by a ruling. */
  creditBonded: (network: string, payer: Address) =>
    account('liability', true, network, `credit_bonded:${address(payer)}`, 'usdc'),

  /** Somebody's share. Credited when earned, debited when paid out or taken back. Purpose: creator, affiliate, … */
  payable: (network: string, owner: Address, purpose: string) =>
    account('liability', true, network, `payable:${word(purpose)}:${address(owner)}`, 'usdc'),

  /** Shares of a source that nobody has proven. Credited when earned, debited when released, expired or taken back. */
  creatorWaiting: (network: string, domain: string, shard: number) =>
    account('liability', true, network, `payable:creator_waiting.${shard}:${domainName(domain)}`, 'usdc'),
  /**
   * All that stands behind one option series. Credited with writers' collateral and buyers' premiums, debited when a
   * contract ends or unsold collateral returns; it is empty when the series is.
   */
  optionCollateral: (network: string, symbol: string) =>
    account('liability', true, network, `option_collateral:${series(symbol)}`, 'usdc'),
  /** USDC in the distributor contract. Debited by each root, credited by each claim. */
  distributor: (network: string) => account('asset', false, network, 'onchain:distributor', 'usdc'),
  /** Transfers in that no claim explains. Credited on arrival after finality, debited when credited to somebody. */
  unmatched: (network: string) => account('liability', false, network, 'unmatched', 'usdc'),

  /** Transfers in between a backup and its restore. Credited on arrival, debited when a person decides whose they are. */
  restoreGap: (network: string) => account('liability', false, network, 'restore_gap', 'usdc'),

  /** Money missing at the custody wallet that a person accepted as lost. Debited then. */
  custodyLoss: (network: string) => account('expense', false, network, 'loss:custody', 'usdc'),

  /** Paid to facilitators per settlement. Debited by each fee; credited only by a correction. */
  feesFacilitator: (network: string) => account('expense', false, network, 'fees:facilitator', 'usdc'),

  /** Fees owed to facilitators until they bill. Credited with the expense, debited when the bill is paid. */
  payableFacilitator: (network: string) => account('liability', false, network, 'payable_facilitator', 'usdc'),

  /** Money that a reorg took after what it bought was used. Debited then; credited if it comes back. */
  reorgLoss: (network: string) => account('expense', false, network, 'loss:reorg', 'usdc'),

  /** The operator's own stake. Credited when the operator puts money in, debited when it is withdrawn. */
  operator: (network: string, asset: 'usdc' | 'gas') =>
    account('liability', false, network, `operator:${asset}`, asset),

  /** Gas money in our sending wallets, in gwei. Debited when topped up, credited when a transaction burns it. */
  gasWallet: (network: string) => account('asset', false, network, 'gas:wallet', 'gas'),

  /** Gas burnt, in gwei. Debited per transaction we sent, failed ones too. */
  gasSpent: (network: string) => account('expense', false, network, 'gas:spent', 'gas'),
  /**
   * An affiliate's share during its hold. Credited with the sale, debited when it becomes payable or is taken back, each
   * time by a row that knows its own amount; without a kept balance, for all sales of a busy affiliate would queue up at it.
   */
  affiliatePending: (network: string, owner: Address) =>
    account('liability', false, network, `payable:affiliate_pending:${address(owner)}`, 'usdc'),
  /** What affiliates cost us. Debited with each share, credited when a share is taken back. */
  affiliateExpense: (network: string) => account('expense', false, network, 'affiliate:expense', 'usdc'),
  /** What somebody got and has to give back. Debited by what could not be taken, credited when later shares set it off. */
  receivable: (network: string, owner: Address, purpose: string) =>
    account('asset', false, network, `receivable:${word(purpose)}:${address(owner)}`, 'usdc'),
  /** A wallet's points. Credited when earned, debited when redeemed or taken back. */
  points: (owner: Address) => pointsAccount('liability', true, `points:${address(owner)}`),
  /** Every point ever given. Debited when points arise, credited when their reason is reversed. */
  pointsIssued: () => pointsAccount('expense', false, 'points_issued'),
  /** Every point ever used. Credited by redemptions. */
  pointsRedeemed: () => pointsAccount('income', false, 'points_redeemed'),
  /** Points that were used before their reason was reversed. Debited then, credited when later points set it off. */
  pointsReceivable: (owner: Address) => pointsAccount('asset', false, `points_receivable:${address(owner)}`),
} as const
