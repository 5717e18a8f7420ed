import type { Address } from '@assay/protocol/address'
import { smallerOf } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { defaultGateLimits } from '@assay/till/internal'
import {
  balanceOf,
  joinPostings,
  type LedgerLine,
  type LedgerTransaction,
  lockAccounts,
  mergeLines,
} from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import { ignoredReason } from './attribute.ts'
import { decideReferrals, type Referral } from './decide-referrals.ts'
import { affiliateShare, pointsFor, referralPoints, rewardedMicro } from './earn.ts'
import { operatorRevenueOf } from './operator-revenue.ts'
import type { RewardsPolicy } from './policy.ts'
import { type CountedSale, countSales, type LoyaltyRow, postRewards, type RewardRow } from './store.ts'

export type RewardDeps = { policy: RewardsPolicy; ownPayees: ReadonlySet<Address> }

/** Points and shares of a payment are named by it and by how often it landed. */
export const rewardReference = (kind: string, sale: { paymentId: string; round: number }): string =>
  `${kind}:${sale.paymentId}#${sale.round}`

const dayMs = 86_400_000

/** The sale hook: points, referral and affiliate share of each sale, in the transaction that serves it. */
export async function rewardSales(
  deps: RewardDeps,
  tx: Tx,
  sales: readonly Sale[],
  unposted: LedgerTransaction[] = [],
): Promise<void> {
  const revenues = await operatorRevenueOf(tx, sales, unposted)
  const counted = sales.flatMap((sale): CountedSale[] => {
    const operatorRevenueMicro = revenues.get(sale.paymentId) ?? 0n
    return operatorRevenueMicro > 0n ? [{ sale, operatorRevenueMicro, ...explicitAffiliate(deps, sale) }] : []
  })
  if (counted.length === 0) return
  const payers = await countSales(tx, counted)
  const referrals = await decideReferrals(tx, deps, counted, payers)
  const rows = toRewards(deps, counted, payers, referrals)
  const postings = await postingsOf(tx, rows, payers)
  await postRewards(tx, { rows, terms: deps.policy.affiliate }, joinPostings(unposted.splice(0), postings))
}

function explicitAffiliate(deps: RewardDeps, { attribution, payer }: Sale): Pick<CountedSale, 'affiliate' | 'note'> {
  const { aff } = attribution
  if (aff === undefined) return {}
  const note = ignoredReason(aff, payer, deps.ownPayees)
  return note === undefined ? { affiliate: aff } : { note }
}

function toRewards(
  deps: RewardDeps,
  counted: readonly CountedSale[],
  payers: ReadonlyMap<Address, LoyaltyRow>,
  referrals: ReadonlyMap<string, Referral>,
): RewardRow[] {
  const spentMicro = new Map([...payers].map(([wallet, row]) => [wallet, row.spentBeforeMicro]))
  return counted.map((one) => {
    const { sale, operatorRevenueMicro } = one
    const before = spentMicro.get(sale.payer) ?? 0n
    spentMicro.set(sale.payer, before + operatorRevenueMicro)
    const affiliate = one.affiliate ?? remembered(deps.policy, payers.get(sale.payer), sale.settledAtMs)
    const affiliateMicro = affiliate ? affiliateShare(deps.policy, sale.amountMicro, operatorRevenueMicro) : 0n
    const earningMicro = rewardedMicro(sale.payee, operatorRevenueMicro, affiliateMicro)
    const referral = referrals.get(sale.paymentId)
    const bonus = referral ? referralPoints(deps.policy, earningMicro) : { referrer: 0n, referred: 0n }
    return {
      sale,
      operatorRevenueMicro,
      points: pointsFor(deps.policy, before, earningMicro),
      // What inclusion is not enough for may still be undone.
      needsFinality: sale.source === 'payment' && sale.amountMicro > defaultGateLimits.inclusionMicroMax,
      note: one.note,
      affiliate: affiliateMicro > 0n ? affiliate : undefined,
      affiliateMicro,
      referrer: referral?.referrer,
      referrerPoints: bonus.referrer,
      referredPoints: bonus.referred,
    }
  })
}

/** The last touch counts on for a while, from the day the wallet was first seen. */
function remembered(policy: RewardsPolicy, payer: LoyaltyRow | undefined, nowMs: number): Address | undefined {
  if (payer?.affiliate === undefined) return undefined
  return nowMs - payer.firstSaleAtMs <= policy.affiliate.windowDays * dayMs ? payer.affiliate : undefined
}

/**
 * What a lone sale brings is posted with it, what several bring is one posting: a line for each would be most of what they cost.
 * Points and money are different units, and each balances by itself.
 */
async function postingsOf(
  tx: Tx,
  rows: readonly RewardRow[],
  payers: ReadonlyMap<Address, LoyaltyRow>,
): Promise<LedgerTransaction[]> {
  const setOff = await openSetOffs(tx, rows, payers)
  const lines = mergeLines(
    rows.flatMap((row) => [
      ...pointLines(row.sale.payer, row.points, setOff),
      ...referralLines(row, setOff),
      ...shareLines(row),
    ]),
  )
  const [first] = rows
  if (!first || lines.length === 0) return []
  const about = rows.length === 1 ? { paymentId: first.sale.paymentId } : { memo: `${rows.length} sales` }
  // Named by the first of them: each is rewarded once.
  return [{ reference: rewardReference('reward', first.sale), kind: 'reward', ...about, lines }]
}

function referralLines(row: RewardRow, setOff: SetOffs): LedgerLine[] {
  if (row.referrer === undefined) return []
  return [
    ...pointLines(row.referrer, row.referrerPoints, setOff),
    ...pointLines(row.sale.payer, row.referredPoints, setOff),
  ]
}

function shareLines({ sale, affiliate, affiliateMicro }: RewardRow): LedgerLine[] {
  if (affiliate === undefined) return []
  return [
    { account: rewardAccounts.affiliateExpense(sale.network, sale.routeId), amount: affiliateMicro },
    { account: rewardAccounts.affiliatePending(sale.network, affiliate), amount: -affiliateMicro },
  ]
}

type SetOffs = Map<Address, bigint>

/** Wallets that used points which were reversed later: what they earn now, as buyer or as referrer, pays that first. */
async function openSetOffs(
  tx: Tx,
  rows: readonly RewardRow[],
  payers: ReadonlyMap<Address, LoyaltyRow>,
): Promise<SetOffs> {
  const owing = new Set(
    rows.flatMap(({ sale, referrer }) => [
      ...(payers.get(sale.payer)?.owes ? [sale.payer] : []),
      // Its row was not read with the sale, and referrals are few: asked in any case.
      ...(referrer === undefined ? [] : [referrer]),
    ]),
  )
  const setOff: SetOffs = new Map()
  if (owing.size === 0) return setOff
  await lockAccounts(tx, [...owing].map(rewardAccounts.pointsReceivable))
  for (const wallet of owing) setOff.set(wallet, await balanceOf(tx, rewardAccounts.pointsReceivable(wallet)))
  return setOff
}

function pointLines(wallet: Address, points: bigint, setOff: SetOffs): LedgerLine[] {
  if (points === 0n) return []
  const owed = setOff.get(wallet) ?? 0n
  const paidOff = smallerOf(owed, points)
  if (owed > 0n) setOff.set(wallet, owed - paidOff)
  return [
    { account: rewardAccounts.pointsIssued(), amount: points },
    ...(paidOff > 0n ? [{ account: rewardAccounts.pointsReceivable(wallet), amount: -paidOff }] : []),
    ...(points > paidOff ? [{ account: rewardAccounts.points(wallet), amount: paidOff - points }] : []),
  ]
}
