import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { accounts, balanceOf, type LedgerLine, lockBalances } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import type { OptionDeps } from './deps.ts'

/** What is paid out of the exchange: `payable:option:<wallet>`. */
export const payoutPurpose = 'option'
export const paidRoutes = ['options.buy', 'options.write', 'options.order']
export const payoutPurposes = [{ purpose: payoutPurpose, minimumMicro: 1n, paidInBy: paidRoutes }]

/** What each wallet owes; what is set off is taken from it. */
export type Debts = Map<Address, Micro>

/** Anyone who bought from credit that a reorg then took away owes it: a payout settles that debt before it leaves. */
export async function debtsOf({ network }: OptionDeps, tx: Tx, wallets: readonly Address[]): Promise<Debts> {
  const debts: Debts = new Map()
  for (const wallet of await walletsOwing(network, tx, wallets)) {
    const owesMicro = await balanceOf(tx, accounts.receivable(network, wallet, 'credit'))
    if (owesMicro > 0n) debts.set(wallet, owesMicro)
  }
  return debts
}

/** The few that ever owed credit: only their debts need to be checked. Nothing more comes to them while this lasts. */
async function walletsOwing(network: string, tx: Tx, wallets: readonly Address[]): Promise<Set<Address>> {
  const all = [...new Set(wallets)]
  if (all.length === 0) return new Set()
  // Before reading: a reorg that is just being written down may leave a debt that nobody sees yet.
  await lockBalances(
    tx,
    all.map((wallet) => accounts.credit(network, wallet)),
  )
  const nameOf = (wallet: Address) => accounts.receivable(network, wallet, 'credit').name
  const { rows } = await tx.query<{ name: string }>('select name from ledger_account where name = any($1)', [
    all.map(nameOf),
  ])
  const known = new Set(rows.map(({ name }) => name))
  return new Set(all.filter((wallet) => known.has(nameOf(wallet))))
}

export function payoutLines({ network }: OptionDeps, debts: Debts, wallet: Address, micro: Micro): LedgerLine[] {
  const owesMicro = debts.get(wallet) ?? 0n
  const setOffMicro = smallerOf(owesMicro, micro)
  if (setOffMicro > 0n) debts.set(wallet, owesMicro - setOffMicro)
  const lines = [
    { account: accounts.receivable(network, wallet, 'credit'), amount: -setOffMicro },
    { account: accounts.payable(network, wallet, payoutPurpose), amount: setOffMicro - micro },
  ]
  return lines.filter(({ amount }) => amount < 0n)
}
