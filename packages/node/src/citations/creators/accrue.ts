import type { Address } from '../../kernel/address.ts'
import { sha256 } from '../../kernel/bytes.ts'
import type { Micro } from '../../kernel/money.ts'
import { type Account, accounts, type LedgerLine } from '../../ledger/index.ts'
import type { Sale } from '../../payments/index.ts'
import type { Tx } from '../../store/database.ts'
import type { Payee } from './payee.ts'

/** So that the sales of one creator do not queue up at one balance. */
export const shards = 16

export function shardOf(paymentId: string): number {
  return (sha256(paymentId)[0] as number) % shards
}

export const accruedAccount = (network: string, wallet: Address, shard: number): Account =>
  accounts.payable(network, wallet, `creator_accrued.${shard}`)

export const committedAccount = (network: string, wallet: Address): Account =>
  accounts.payable(network, wallet, 'creator_committed')

export type Share = {
  payee: Payee
  micro: Micro
  /** Suspicious: paid as it was paid, but only after a window in which it can be challenged. */
  held: { untilMs: number; reason: string } | undefined
}

/**
 * Puts the creators' shares of a sale down and gives the ledger lines that carry them; the caller posts them with the
 * rest of the sale, in the same transaction.
 */
export async function accrueShares(
  tx: Tx,
  sale: Pick<Sale, 'paymentId' | 'network' | 'payer' | 'round' | 'source' | 'settledAtMs'>,
  subject: string,
  shares: readonly Share[],
): Promise<LedgerLine[]> {
  const shard = shardOf(sale.paymentId)
  const paid = shares.filter(({ micro }) => micro > 0n)
  if (paid.length === 0) return []
  await tx.query({
    name: 'creator_accrue',
    text: `insert into creator_accrual (subject, place, payment_id, round, source, payer, network, domain, registrable,
        wallet, shard, micro, state, held_until, held_reason, created_at)
      select $1, t.place, $2, $3, $4, $5, $6, t.domain, t.registrable, t.wallet, $7, t.micro,
        case when t.wallet is null then 'waiting' else 'accrued' end, t.held_until, t.held_reason, $8
      from unnest($9::smallint[], $10::text[], $11::text[], $12::text[], $13::bigint[], $14::timestamptz[], $15::text[])
        t (place, domain, registrable, wallet, micro, held_until, held_reason)`,
    values: [
      subject,
      sale.paymentId,
      sale.round,
      sale.source,
      sale.payer,
      sale.network,
      shard,
      new Date(sale.settledAtMs),
      paid.map((_, place) => place),
      paid.map(({ payee }) => payee.domain),
      paid.map(({ payee }) => payee.registrable),
      paid.map(({ payee }) => payee.wallet ?? null),
      paid.map(({ micro }) => micro),
      paid.map(({ held }) => (held ? new Date(held.untilMs) : null)),
      paid.map(({ held }) => held?.reason ?? null),
    ],
  })
  return mergeLines(
    paid.map(({ payee, micro }) => ({
      account:
        payee.wallet === undefined
          ? accounts.creatorWaiting(sale.network, payee.registrable, shard)
          : accruedAccount(sale.network, payee.wallet, shard),
      amount: -micro,
    })),
  )
}

/** One line an account: a posting names each account once. */
export function mergeLines(lines: readonly LedgerLine[]): LedgerLine[] {
  const merged = new Map<string, LedgerLine>()
  for (const { account, amount } of lines) {
    const known = merged.get(account.name)
    merged.set(account.name, { account, amount: (known?.amount ?? 0n) + amount })
  }
  return [...merged.values()].filter(({ amount }) => amount !== 0n)
}
