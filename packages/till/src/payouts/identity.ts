import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { sha256 } from '../kernel/bytes.ts'
import type { Sql, Tx } from '../store/database.ts'

/** What a payout is. Payee, amount and validity are not part of it: they may differ between two authorizations. */
export type PayoutIdentity = {
  network: string
  asset: Address
  custody: Address
  purpose: string
  account: string
  /** Nonces of this account that were used in final blocks before; never lowered. */
  n: bigint
}

/**
 * The token accepts each nonce once. Two workers, or a database restored from a backup, decide on the same payout with
 * the same nonce, so it is paid once.
 */
export function payoutNonce(databaseId: string, identity: PayoutIdentity): Hex {
  const { network, asset, custody, purpose, account, n } = identity
  return toHex(sha256(['assay payout', databaseId, network, asset, custody, purpose, account, n].join('\n')))
}

/** A refund pays back one authorization; `part` tells several refunds of it apart. */
export function refundAccount(paid: { payer: Address; paymentKey: Hex }, part = 0): string {
  return `${paid.payer}/${paid.paymentKey}/${part}`
}

/** Until the transaction ends nobody else counts, opens or ends payouts of this account. */
export async function lockPayoutAccount(
  tx: Tx,
  { network, purpose, account }: Pick<PayoutIdentity, 'network' | 'purpose' | 'account'>,
): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`payout ${network} ${purpose} ${account}`])
}

/** The n of the next payout. */
export async function nextNumber(
  sql: Sql,
  { network, purpose, account }: Pick<PayoutIdentity, 'network' | 'purpose' | 'account'>,
): Promise<bigint> {
  const { rows } = await sql.query<{ n: bigint }>(
    `select coalesce(max(n) + 1, 0) as n from payout where network = $1 and purpose = $2 and account = $3 and spent`,
    [network, purpose, account],
  )
  return rows[0]?.n ?? 0n
}
