import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { Sql } from '../store/database.ts'

/** A transfer to an address of ours that is nobody's until an operator decides. */
export type TransferInReview = {
  id: bigint
  network: string
  transaction: Hex
  position: number
  sender: Address
  recipient: Address
  amountMicro: Micro
  /** It came between a backup and its restore, so it may have been sold or credited before. */
  inGap: boolean
  seenAt: Date
}

/** Oldest first. */
export async function listReview(sql: Sql, limit: number): Promise<TransferInReview[]> {
  const { rows } = await sql.query<TransferInReview>(
    `select id, network, '0x' || encode(transaction, 'hex') as transaction, position, sender, recipient,
       amount_micro as "amountMicro", posted_as = 'gap' as "inGap", seen_at as "seenAt"
     from transfer where posted_as in ('review', 'gap') order by id limit $1`,
    [limit],
  )
  return rows
}

/** How many there are, counted up to `most`. */
export async function countReview(sql: Sql, most: number): Promise<number> {
  const { rows } = await sql.query<{ open: number }>(
    `select count(*)::integer as open from (select from transfer where posted_as in ('review', 'gap') limit $1) t`,
    [most],
  )
  return rows[0]?.open ?? 0
}
