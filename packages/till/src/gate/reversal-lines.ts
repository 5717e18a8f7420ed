import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import {
  type Account,
  type AccountKind,
  accounts,
  type LedgerLine,
  lockBalances,
  owedTo,
  unitOf,
} from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

type ReversedSale = { id: string; network: string; amountMicro: Micro }

type Share = { account: Account; micro: Micro }

/**
 * Lines that take `micro` of a payment back from the party that got a part of it, each in proportion; the first share bears the
 * rounding, so that they sum to exactly `micro`. What its holder has already spent is recorded as that holder's debt.
 */
export async function reversalLines(tx: Tx, payment: ReversedSale, micro: Micro): Promise<LedgerLine[]> {
  const shares = await sharesOf(tx, payment)
  // A hold that is voided between the read and the posting would leave its money free beside the debt for it.
  await lockBalances(
    tx,
    shares.map(({ account }) => account),
  )
  const totalMicro = shares.reduce((sum, share) => sum + share.micro, 0n)
  if (totalMicro < micro) throw new Error(`${payment.id} holds ${totalMicro}, less than the ${micro} to reverse`)
  const parts = shares.map((share) => (share.micro * micro) / totalMicro)
  const rest = micro - parts.reduce((sum, part) => sum + part, 0n)
  const lines: LedgerLine[] = []
  for (const [index, share] of shares.entries()) {
    const part = (parts[index] as Micro) + (index === 0 ? rest : 0n)
    if (part > 0n) lines.push(...(await takeFrom(tx, payment, share.account, part)))
  }
  return lines
}

/**
 * What is still credited from this payment, the operator's own part first. Costs and affiliates are no part of the price;
 * what was set off against a debt of credit counts as that credit.
 */
async function sharesOf(tx: Tx, payment: ReversedSale): Promise<Share[]> {
  const { rows } = await tx.query<{ name: string; kind: AccountKind; unit: string; guarded: boolean; micro: bigint }>(
    `select a.name, a.kind, a.unit, a.guarded, -sum(e.amount_micro)::bigint as micro
     from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id
     join ledger_account a on a.id = e.account_id
     where t.payment_id = $1 and a.unit = $2
       and (a.kind in ('liability', 'income') or (a.role = 'receivable' and a.purpose = 'credit'))
       and a.role <> 'payable_facilitator' and not (a.role = 'payable'
         and exists (select from ledger_purpose p where p.purpose = a.purpose and p.is_cost))
     group by a.id, a.name, a.kind, a.unit, a.guarded
     having sum(e.amount_micro) <> 0
     order by a.kind = 'income' desc, a.name`,
    [payment.id, unitOf(payment.network)],
  )
  const shares = new Map<string, Share>()
  for (const { micro, ...found } of rows) {
    const account = creditBehind(payment.network, found)
    shares.set(account.name, { account, micro: (shares.get(account.name)?.micro ?? 0n) + micro })
  }
  return [...shares.values()].filter(({ micro }) => micro > 0n)
}

/** What had paid a debt of credit is taken from the free balance first; only the rest becomes a debt again. */
function creditBehind(network: string, account: Account): Account {
  const [, owing] = /^receivable:credit:(0x[0-9a-f]{40})@/.exec(account.name) ?? []
  return owing === undefined ? account : accounts.credit(network, owing as Address)
}

const holderPattern = /^(?:payable:([a-z0-9._-]+)|(credit(?:_held)?)):(0x[0-9a-f]{40})@/

/** A balance may be kept in several accounts; what its holder owes is one debt. */
const unsharded = (purpose: string | undefined) => purpose?.replace(/\.[0-9]+$/, '')

async function takeFrom(tx: Tx, payment: ReversedSale, account: Account, micro: Micro): Promise<LedgerLine[]> {
  if (!account.guarded) return [{ account, amount: micro }]
  const reversedMicro = smallerOf(await owedTo(tx, account), micro)
  const missingMicro = micro - reversedMicro
  const [, purpose, creditWord, holder] = holderPattern.exec(account.name) ?? []
  const owing =
    holder === undefined
      ? accounts.reorgLoss(payment.network)
      : accounts.receivable(payment.network, holder as Address, unsharded(purpose) ?? creditWord ?? 'share')
  return [
    ...(reversedMicro > 0n ? [{ account, amount: reversedMicro }] : []),
    ...(missingMicro > 0n ? [{ account: owing, amount: missingMicro }] : []),
  ]
}
