import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '../chain/index.ts'
import type { Sql } from '../store/database.ts'
import type { Payout } from './payout-record.ts'
import { operatorPurposes } from './purposes.ts'

export type CustodyMoney = {
  /** True when this payout can be paid beside what was taken before. */
  take(payout: Pick<Payout, 'purpose' | 'amountMicro'>): boolean
}

/**
 * What the custody wallet can pay: its balance at a final block, less what is signed and not yet final. What it holds
 * for others can be used for their own payouts only; the rest, put there by the operator, pays the operator's debts.
 */
export async function freeCustody(sql: Sql, chain: ChainPort, custody: Address): Promise<CustodyMoney> {
  const network = chain.network.caip2
  const final = await chain.finalizedBlock()
  const balanceMicro = await chain.usdcBalance(custody, final.number)
  const own = await operatorPurposes(sql)
  const { rows } = await sql.query<{ others: Micro; signed: Micro; reserved: Micro }>(
    `select
       (select coalesce(sum(b.owed_micro - b.pay_to_micro), 0)::bigint from ledger_account a join ledger_balance b on b.account_id = a.id
        where a.unit = $1 and (a.role <> 'payable'
          or not exists (select from ledger_purpose p where p.purpose = a.purpose and p.backed_by <> 'custody'))) as others,
       (select coalesce(sum(amount_micro), 0)::bigint from payout where network = $2 and state in ('signed', 'parked')
          and (block_number is null or block_number > $3)) as signed,
       (select coalesce(sum(amount_micro), 0)::bigint from payout where network = $2 and state in ('waiting', 'queued')
          and not purpose = any($4::text[])) as reserved`,
    [`${network}/usdc`, network, final.number, [...own]],
  )
  const { others = 0n, signed = 0n, reserved = 0n } = rows[0] ?? {}
  let leftMicro = balanceMicro - signed
  let othersMicro = others + reserved
  return {
    take: ({ purpose, amountMicro }) => {
      const ownMoney = own.has(purpose)
      if (amountMicro > (ownMoney ? leftMicro - othersMicro : leftMicro)) return false
      leftMicro -= amountMicro
      if (!ownMoney) othersMicro -= amountMicro
      return true
    },
  }
}
