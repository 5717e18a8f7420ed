import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

type TestRuling = { wallet: Address; wash?: readonly string[]; judged?: boolean }

/** A citation of a wallet, as it stands after the chain was looked at: washed by default. */
export async function insertTestRuling(
  sql: Sql,
  id: string,
  { wallet, wash = ['same_funding_cluster'], judged = true }: TestRuling,
): Promise<void> {
  await sql.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, record, signed,
       price_micro, wash, created_at, judged_at)
     values ($1, 'citation', 'paid:' || $1, 'eip155:8453', $2, $2, 'https://a.test/', 'a.test', 'a.test', '{}', '{}', 5000, $3,
       now(), case when $4 then now() end)`,
    [id, wallet, wash, judged],
  )
}
