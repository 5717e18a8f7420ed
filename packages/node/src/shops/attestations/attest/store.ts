import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Attester, SignedAttestation } from './attester.ts'

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
  signed: SignedAttestation
  priceMicro: Micro
  quoteFound: boolean | null
  wash: string[]
  createdAt: Date
}

/** What was signed is kept once: as the leaf of the log. */
const columns = `id, kind, payment_id as "paymentId", network, agent, payer, source_url as "sourceUrl", domain, registrable,
  creator, (select convert_from(e.entry, 'UTF8') from log_entry e where e.subject = attestation.id) as record,
  signature, (select json_build_object('signer', c.signer, 'chainId', c.chain_id, 'statement', c.statement, 'keyId', c.key_id,
    'publicKey', c.public_key) from citation_attester c where c.statement_sha256 = attestation.attester) as attester,
  price_micro as "priceMicro", quote_found as "quoteFound", wash, created_at as "createdAt"`

type StoredRow = Omit<AttestationRow, 'signed'> & SignedAttestation
const toRow = ({ signature, attester, ...row }: StoredRow): AttestationRow => ({
  ...row,
  signed: { signature, attester },
})

const attesterHash = ({ statement }: Attester) => sha256(statement)

export async function insertAttestations(tx: Tx, rows: readonly AttestationRow[]): Promise<void> {
  if (rows.length === 0) return
  await insertAttesters(
    tx,
    rows.map(({ signed }) => signed.attester),
  )
  await tx.query({
    name: 'attestation_insert',
    text: `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, creator,
        signature, attester, price_micro, quote_found, wash, created_at)
      select t.id, t.kind, t.payment, t.network, t.agent, t.payer, t.url, t.domain, t.registrable, t.creator,
        t.signature, t.attester, t.price, t.quote_found, array(select jsonb_array_elements_text(t.wash)), t.at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bigint[], $14::boolean[], $15::jsonb[],
        $16::timestamptz[]) t (id, kind, payment, network, agent, payer, url, domain, registrable, creator,
          signature, attester, price, quote_found, wash, at)`,
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
      rows.map((row) => row.signed.signature),
      rows.map((row) => attesterHash(row.signed.attester)),
      rows.map((row) => row.priceMicro),
      rows.map((row) => row.quoteFound),
      rows.map((row) => JSON.stringify(row.wash)),
      rows.map((row) => row.createdAt),
    ],
  })
}

/** One row for each key, node and chain: all that they sign names it. */
async function insertAttesters(tx: Tx, attesters: readonly Attester[]): Promise<void> {
  const distinct = [...new Set(attesters)]
  await tx.query({
    name: 'attester_insert',
    text: `insert into citation_attester (statement_sha256, statement, signer, chain_id, key_id, public_key)
      select * from unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
      on conflict do nothing`,
    values: [
      distinct.map(attesterHash),
      distinct.map(({ statement }) => statement),
      distinct.map(({ signer }) => signer),
      distinct.map(({ chainId }) => chainId),
      distinct.map(({ keyId }) => keyId),
      distinct.map(({ publicKey }) => publicKey),
    ],
  })
}

export async function findByPayments(sql: Sql, paymentIds: readonly string[]): Promise<Map<string, AttestationRow>> {
  if (paymentIds.length === 0) return new Map()
  const { rows } = await sql.query<StoredRow>({
    name: 'attestation_by_payment',
    text: `select ${columns} from attestation where payment_id = any($1::text[])`,
    values: [paymentIds],
  })
  return new Map(rows.map((row) => [row.paymentId, toRow(row)]))
}

export async function findAttestation(sql: Sql, id: string): Promise<AttestationRow | undefined> {
  const { rows } = await sql.query<StoredRow>({
    name: 'attestation_by_id',
    text: `select ${columns} from attestation where id = $1`,
    values: [id],
  })
  return rows[0] && toRow(rows[0])
}
