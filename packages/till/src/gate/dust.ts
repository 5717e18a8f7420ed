import type { Address } from '@assay/protocol/address'
import type { Sql } from '../store/database.ts'

/** Smaller transfers are posted as a sum unless they show a payment key or are of a sender with a claim: each is worth less than its receipt. */
export const dustMicro = 1_000n

/** Senders with a payment that can still change, or that ended within a day: what they send is recorded however little it is. */
export async function sendersWithClaims(sql: Sql, network: string, senders: readonly Address[]): Promise<Set<Address>> {
  if (senders.length === 0) return new Set()
  const { rows } = await sql.query<{ sender: Address }>(
    `select s.sender from unnest($2::text[]) s (sender)
     where exists (select from payment p where p.network = $1 and p.payer = s.sender and p.open_to_payer and not p.final)
       or exists (select from payment p where p.network = $1 and p.payer = s.sender and p.ended_at > now() - interval '1 day')`,
    [network, senders],
  )
  return new Set(rows.map(({ sender }) => sender))
}
