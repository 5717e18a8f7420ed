import type { Address } from '@assay/protocol/address'
import type { Tx } from '@assay/till/store/database'
import { type IgnoredReason, ignoredReason } from './attribute.ts'
import type { CountedSale, LoyaltyRow } from './store.ts'

export type Referral = { referrer: Address }

/** Whose referral a wallet is, decided with its first sale and never again. Returns those that count, by payment. */
export async function decideReferrals(
  tx: Tx,
  deps: { ownPayees: ReadonlySet<Address> },
  counted: readonly CountedSale[],
  payers: ReadonlyMap<Address, LoyaltyRow>,
): Promise<Map<string, Referral>> {
  const decided = new Map<string, Referral>()
  const seen = new Set<Address>()
  for (const { sale } of counted) {
    const { payer, attribution, paymentId } = sale
    const first = payers.get(payer)?.isFirstSale === true && !seen.has(payer)
    seen.add(payer)
    const referrer = attribution.ref
    if (!first || referrer === undefined) continue
    const reason = ignoredReason(referrer, payer, deps.ownPayees) ?? (await cycleReason(tx, payer, referrer))
    const { rowCount } = await tx.query(
      `insert into referral (wallet, referrer, status, reason, payment_id, decided_at) values ($1, $2, $3, $4, $5, $6)
       on conflict (wallet) do update set referrer = excluded.referrer, status = excluded.status, reason = excluded.reason,
         payment_id = excluded.payment_id, decided_at = excluded.decided_at where referral.status = 'reversed'`,
      [
        payer,
        referrer,
        reason === undefined ? 'counted' : 'ignored',
        reason ?? null,
        paymentId,
        new Date(sale.settledAtMs),
      ],
    )
    if (rowCount > 0 && reason === undefined) decided.set(paymentId, { referrer })
  }
  return decided
}

const depthMax = 64

/** Two wallets that refer each other, over however many in between. One decision at a time, or both would slip through. */
async function cycleReason(tx: Tx, payer: Address, referrer: Address): Promise<IgnoredReason | undefined> {
  await tx.query(`select pg_advisory_xact_lock(1634952033, 30)`)
  const { rows } = await tx.query<{ found: boolean }>(
    `with recursive line (wallet, depth) as (
       select $2::text, 0
       union all
       select r.referrer, line.depth + 1 from line join referral r on r.wallet = line.wallet and r.status = 'counted'
       where line.depth < ${depthMax})
     select exists (select from line where wallet = $1) as found`,
    [payer, referrer],
  )
  return rows[0]?.found ? 'cycle' : undefined
}
