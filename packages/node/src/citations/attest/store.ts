import type { Address } from '../../kernel/address.ts'
import type { Json } from '../../kernel/canonical-json.ts'
import type { Micro } from '../../kernel/money.ts'
import type { Sql, Tx } from '../../store/database.ts'

export type AttestationRow = {
  id: string
  kind: 'citation' | 'claim'
  paymentId: string
  network: string
  agent: Address
  payer: Address
  sourceUrl: string
  domain: string
  registrable: string
  creator: Address | null
  /** Canonical JSON: the bytes that were signed and logged. */
  record: string
  signed: { [key: string]: Json }
  priceMicro: Micro
  quoteFound: boolean | null
  wash: string[]
  createdAt: Date
}

const columns = `id, kind, payment_id as "paymentId", network, agent, payer, source_url as "sourceUrl", domain, registrable,
  creator, record, signed, price_micro as "priceMicro", quote_found as "quoteFound", wash, created_at as "createdAt"`

export async function insertAttestation(tx: Tx, row: AttestationRow): Promise<void> {
  await tx.query({
    name: 'attestation_insert',
    text: `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, creator,
        record, signed, price_micro, quote_found, wash, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      row.id,
      row.kind,
      row.paymentId,
      row.network,
      row.agent,
      row.payer,
      row.sourceUrl,
      row.domain,
      row.registrable,
      row.creator,
      row.record,
      JSON.stringify(row.signed),
      row.priceMicro,
      row.quoteFound,
      row.wash,
      row.createdAt,
    ],
  })
}

export async function findByPayment(sql: Sql, paymentId: string): Promise<AttestationRow | undefined> {
  const { rows } = await sql.query<AttestationRow>({
    name: 'attestation_by_payment',
    text: `select ${columns} from attestation where payment_id = $1`,
    values: [paymentId],
  })
  return rows[0]
}

export async function findAttestation(sql: Sql, id: string): Promise<AttestationRow | undefined> {
  const { rows } = await sql.query<AttestationRow>({
    name: 'attestation_by_id',
    text: `select ${columns} from attestation where id = $1`,
    values: [id],
  })
  return rows[0]
}
