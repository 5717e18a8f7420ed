import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { accountOf, type PayoutLeaf } from '@assay/protocol/payout-tree'

export type OpenShare = { id: bigint; wallet: Address; domain: string; micro: Micro }

export type ChosenLeaf = PayoutLeaf & { domain: string }

export type Chosen = { leaves: ChosenLeaf[]; wallets: ReadonlySet<Address>; potMicro: Micro }

/**
 * What each creator gains, by the domain that earned it. One who owes more than was earned since waits for the next root.
 * A wallet is in whole or not at all, and the root has at most `leavesMax` leaves.
 */
export function chooseLeaves(open: readonly OpenShare[], leavesMax: number): Chosen {
  const byWallet = new Map<Address, Map<string, Micro>>()
  for (const { wallet, domain, micro } of open) {
    const domains = byWallet.get(wallet) ?? new Map<string, Micro>()
    domains.set(domain, (domains.get(domain) ?? 0n) + micro)
    byWallet.set(wallet, domains)
  }
  const leaves: ChosenLeaf[] = []
  const wallets = new Set<Address>()
  for (const [wallet, domains] of byWallet) {
    const own = afterDebts(domains)
    if (own.length === 0 || leaves.length + own.length > leavesMax) continue
    wallets.add(wallet)
    leaves.push(...own.map(([domain, micro]) => ({ account: accountOf(domain), domain, wallet, micro })))
  }
  return { leaves, wallets, potMicro: leaves.reduce((sum, { micro }) => sum + micro, 0n) }
}

/** What was reversed for one domain comes off what the others earned. */
function afterDebts(domains: ReadonlyMap<string, Micro>): [string, Micro][] {
  let debt = [...domains.values()].reduce((sum, micro) => (micro < 0n ? sum - micro : sum), 0n)
  const left: [string, Micro][] = []
  for (const [domain, micro] of [...domains].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (micro <= 0n) continue
    const taken = smallerOf(debt, micro)
    debt -= taken
    if (micro > taken) left.push([domain, micro - taken])
  }
  return debt > 0n ? [] : left
}
