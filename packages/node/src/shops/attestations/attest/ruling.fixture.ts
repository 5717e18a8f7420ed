import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

type TestRuling = { wallet: Address; wash?: readonly string[]; checked?: boolean }

/** A citation of a wallet, as it is after the chain was read: wash-traded by default. */
export async function insertTestRuling(
  sql: Sql,
  id: string,
  { wallet, wash = ['same_funding_cluster'], checked = true }: TestRuling,
): Promise<void> {
  await sql.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester,
       price_micro, wash, created_at, checked_at)
     values ($1, 'citation', 'paid:' || $1, 'eip155:8453', $2, $2, 'https://a.test/', 'a.test', 'a.test', decode(repeat('00', 65), 'hex'), '', 5000, $3,
       now(), case when $4 then now() end)`,
    [id, wallet, wash, checked],
  )
}
