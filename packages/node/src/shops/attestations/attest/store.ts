import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Sql, Tx } from '@assay/till/store/database'

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

/** What was signed is kept once: as the leaf of the log. */
const columns = `id, kind, payment_id as "paymentId", network, agent, payer, source_url as "sourceUrl", domain, registrable,
  creator, (select convert_from(e.entry, 'UTF8') from log_entry e where e.subject = attestation.id) as record, signed, price_micro as "priceMicro", quote_found as "quoteFound", wash, created_at as "createdAt"`

export async function insertAttestations(tx: Tx, rows: readonly AttestationRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'attestation_insert',
    text: `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, creator,
        signed, price_micro, quote_found, wash, created_at)
      select t.id, t.kind, t.payment, t.network, t.agent, t.payer, t.url, t.domain, t.registrable, t.creator,
        t.signed, t.price, t.quote_found, array(select jsonb_array_elements_text(t.wash)), t.at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::jsonb[], $12::bigint[], $13::boolean[], $14::jsonb[],
        $15::timestamptz[]) t (id, kind, payment, network, agent, payer, url, domain, registrable, creator,
          signed, price, quote_found, wash, at)`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.kind),
      rows.map((row) => row.paymentId),
      rows.map((row) => row.network),
      rows.map((row) => row.agent),
      rows.map((row) => row.payer),
      rows.map((row) => row.sourceUrl),
      rows.map((row) => row.domain),
      rows.map((row) => row.registrable),
      rows.map((row) => row.creator),
      rows.map((row) => JSON.stringify(row.signed)),
      rows.map((row) => row.priceMicro),
      rows.map((row) => row.quoteFound),
      rows.map((row) => JSON.stringify(row.wash)),
      rows.map((row) => row.createdAt),
    ],
  })
}

export async function findByPayments(sql: Sql, paymentIds: readonly string[]): Promise<Map<string, AttestationRow>> {
  if (paymentIds.length === 0) return new Map()
  const { rows } = await sql.query<AttestationRow>({
    name: 'attestation_by_payment',
    text: `select ${columns} from attestation where payment_id = any($1::text[])`,
    values: [paymentIds],
  })
  return new Map(rows.map((row) => [row.paymentId, row]))
}

export async function findAttestation(sql: Sql, id: string): Promise<AttestationRow | undefined> {
  const { rows } = await sql.query<AttestationRow>({
    name: 'attestation_by_id',
    text: `select ${columns} from attestation where id = $1`,
    values: [id],
  })
  return rows[0]
}
