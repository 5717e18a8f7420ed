import { tokenInForce } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'

export type SubscriptionRow = {
  wallet: string
  tier: string
  from_at: Date
  until_at: Date
  /** Given back for outages; contained in until_at. */
  extended_ms: bigint
  has_token: boolean
  purchases: bigint
}

/** For the operator: newest end first. */
export async function listSubscriptions(
  sql: Sql,
  options: { activeAt?: Date; limit: number },
): Promise<SubscriptionRow[]> {
  const { rows } = await sql.query<SubscriptionRow>(
    `select s.wallet, s.tier, s.from_at, s.until_at, s.extended_ms,
       (s.token_hash is not null and ${tokenInForce('s.token_secret')}) as has_token,
       (select count(*) from subscription_purchase p where p.wallet = s.wallet and p.product = s.product and p.revoked_at is null) as purchases
     from subscription s where $1::timestamptz is null or s.until_at > $1 order by s.until_at desc, s.wallet limit $2`,
    [options.activeAt ?? null, options.limit],
  )
  return rows
}
