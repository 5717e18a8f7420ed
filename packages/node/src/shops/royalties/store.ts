import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Sql, Tx } from '@assay/till/store/database'

export type Remittance = {
  id: string
  paymentId: string
  parent: string
  parentKind: 'attestation' | 'remittance' | 'payment'
  payer: Address
  network: string
  salePriceMicro: Micro
  royaltyMicro: Micro
  record: string
  /** The attestation over the record; null for those remitted before there was one. */
  signed: { [key: string]: Json } | null
  createdAt: Date
}

const columns = `id, payment_id as "paymentId", parent, parent_kind as "parentKind", payer, network,
  sale_price_micro as "salePriceMicro", royalty_micro as "royaltyMicro", record, signed, created_at as "createdAt"`

export async function insertRemittance(tx: Tx, row: Remittance): Promise<void> {
  await tx.query(
    `insert into royalty_remittance (id, payment_id, parent, parent_kind, payer, network, sale_price_micro, royalty_micro,
       record, signed, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      row.id,
      row.paymentId,
      row.parent,
      row.parentKind,
      row.payer,
      row.network,
      row.salePriceMicro,
      row.royaltyMicro,
      row.record,
      row.signed && JSON.stringify(row.signed),
      row.createdAt,
    ],
  )
}

export async function findRemittance(
  sql: Sql,
  by: { id: string } | { paymentId: string },
): Promise<Remittance | undefined> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['payment_id', by.paymentId]
  const { rows } = await sql.query<Remittance>(`select ${columns} from royalty_remittance where ${column} = $1`, [
    value,
  ])
  return rows[0]
}

export async function remittancesOf(sql: Sql, parent: string, limit = 50): Promise<Remittance[]> {
  const { rows } = await sql.query<Remittance>(
    `select ${columns} from royalty_remittance where parent = $1 order by created_at desc limit $2`,
    [parent, limit],
  )
  return rows
}
