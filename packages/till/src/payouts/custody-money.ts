import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { ChainPort } from '../chain/index.ts'
import { groupBalancesSql, unitOf } from '../ledger/index.ts'
import type { Sql, Tx } from '../store/database.ts'
import { operatorPurposes } from './purposes.ts'

/** What a custody wallet holds at a final block, by quorum. */
export type FinalBalance = { network: string; custody: Address; block: bigint; micro: Micro }

export async function readFinalBalance(chain: ChainPort, custody: Address, how?: 'patient'): Promise<FinalBalance> {
  const { number: block } = await chain.finalizedBlock(how)
  return { network: chain.network.caip2, custody, block, micro: await chain.usdcBalance(custody, block) }
}

/** Whose the money of a custody wallet is. */
export type CustodyFacts = {
  /** On chain at a final block, and what the books say is there in final blocks. */
  balanceMicro: Micro
  postedMicro: Micro
  /** Signed transfers that this block does not show yet, and those that the books still have. */
  signedMicro: Micro
  unpaidMicro: Micro
  /** Credit, holds, bonds, collateral, shares, money in clearing, in review or in a restore gap. */
  othersMicro: Micro
  /** Debts of the operator that are paid from here, such as shares of affiliates. */
  debtsMicro: Micro
  /** Decided and not signed. */
  queuedOthersMicro: Micro
  queuedOwnMicro: Micro
  /** What shops have committed out of the operator's money. */
  committedMicro: Micro
}

/** Money that is neither being sent nor unexplained: both chain and books must show it. */
export const certainMicro = (facts: CustodyFacts): Micro =>
  smallerOf(facts.balanceMicro - facts.signedMicro, facts.postedMicro - facts.unpaidMicro)

/** The operator's money that nobody has any claim to; negative when debts are not covered. */
export function spareMicro(facts: CustodyFacts): Micro {
  const claimed = facts.othersMicro + facts.queuedOthersMicro + facts.debtsMicro + facts.queuedOwnMicro
  return certainMicro(facts) - claimed - facts.committedMicro
}

/** Until the transaction ends nobody else decides about the operator's money at this custody wallet. */
export async function lockSpare(tx: Tx, network: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`custody spare ${network}`])
}

type Row = Record<
  'posted' | 'signed' | 'unpaid' | 'liabilities' | 'debts' | 'atPayTo' | 'queuedOthers' | 'queuedOwn',
  Micro
>

/** One statement, so that money on its way from one account to another is seen in exactly one of them. */
const factsSql = `with groups as (${groupBalancesSql}),
  owed as (
    select -g.balance as micro, case when g.role = 'payable' then p.backed_by end as backed_by
    from groups g left join ledger_purpose p on p.purpose = g.purpose
    where (g.kind = 'liability' and g.role not in ('operator', 'payable_facilitator')
        and not (g.role in ('unmatched', 'restore_gap') and g.purpose = 'pay_to'))
      or (g.kind = 'clearing' and g.purpose = 'payments' and g.balance < 0)),
  leaving as (
    select amount_micro, state in ('signed', 'parked') as signed, block_number, purpose = any($4::text[]) as own from payout
    where network = $2 and state in ('waiting', 'queued', 'signed', 'parked')),
  coming as (
    select amount_micro from transfer where network = $2 and not final and posted_as is not null
      and (recipient = $5 or recipient in (select address from own_address where network = $2 and payee = 'custody')))
  select
    (select coalesce(sum(balance), 0) from groups where kind = 'asset' and role = 'onchain' and purpose = 'custody')::bigint
      - (select coalesce(sum(amount_micro), 0) from coming)::bigint as posted,
    (select coalesce(sum(amount_micro), 0) from leaving where signed and (block_number is null or block_number > $3))::bigint as signed,
    (select coalesce(sum(amount_micro), 0) from leaving where signed)::bigint as unpaid,
    (select coalesce(sum(amount_micro), 0) from leaving where not signed and not own)::bigint as "queuedOthers",
    (select coalesce(sum(amount_micro), 0) from leaving where not signed and own)::bigint as "queuedOwn",
    (select coalesce(sum(micro), 0) from owed where coalesce(backed_by, 'custody') = 'custody')::bigint as liabilities,
    (select coalesce(sum(micro), 0) from owed where backed_by = 'operator')::bigint as debts,
    (select coalesce(sum(b.pay_to_micro), 0) from ledger_balance b where b.pay_to_micro > 0
      and (select a.unit from ledger_account a where a.id = b.account_id) = $1)::bigint as "atPayTo"`

/** False while all that the wallet holds is what it held before the books began: reconciliation books it as the operator's. */
export async function booksHaveBegun(sql: Sql, { network, custody }: FinalBalance): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select from reconcile_cursor where network = $1 and address = $2 union all (select from transfer where network = $1 limit 1)`,
    [network, custody],
  )
  return rowCount > 0
}

/**
 * The caller reads what shops have committed before this: money that moves in between is counted twice, never left out.
 */
export async function readCustodyFacts(sql: Sql, balance: FinalBalance, committedMicro: Micro): Promise<CustodyFacts> {
  const own = await operatorPurposes(sql)
  const { rows } = await sql.query<Row>({
    name: 'payouts_custody_facts',
    text: factsSql,
    values: [unitOf(balance.network), balance.network, balance.block, [...own], balance.custody],
  })
  const row = rows[0] as Row
  return {
    balanceMicro: balance.micro,
    postedMicro: row.posted,
    signedMicro: row.signed,
    unpaidMicro: row.unpaid,
    // Credit that arrived at PAY_TO is paid with the operator's own money.
    othersMicro: row.liabilities - row.atPayTo,
    debtsMicro: row.debts + row.atPayTo,
    queuedOthersMicro: row.queuedOthers,
    queuedOwnMicro: row.queuedOwn,
    committedMicro,
  }
}
