import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { sha256 } from '@assay/till/kernel/bytes'
import { type Account, accounts, type LedgerLine, mergeLines } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../accounts.ts'
import type { Payee } from './payee.ts'

/** So that the sales of one creator do not queue up at one balance. */
export const shards = 16

export function shardOf(paymentId: string): number {
  return (sha256(paymentId)[0] as number) % shards
}

export const accruedAccount = (network: string, wallet: Address, shard: number): Account =>
  accounts.payable(network, wallet, `creator_accrued.${shard}`)

/** What a creator was paid for sales that were reversed later; set off against what is earned next. */
export const creatorReceivable = (network: string, wallet: Address): Account =>
  accounts.receivable(network, wallet, 'creator_accrued')

export const committedAccount = (network: string, wallet: Address): Account =>
  accounts.payable(network, wallet, 'creator_committed')

export type Share = {
  payee: Payee
  /** Address of the page, where one is known. */
  page?: string | undefined
  micro: Micro
  /** Suspicious: paid as it was paid, but only after a window in which it can be challenged. */
  held: { untilMs: number; reason: string } | undefined
}

export type AccruedSale = Pick<Sale, 'paymentId' | 'network' | 'payer' | 'round' | 'source' | 'settledAtMs'>

/** The shares that one sale gives, and what they are for. */
export type Accrual = { sale: AccruedSale; subject: string; shares: readonly Share[] }

/**
 * Puts the creators' shares of a sale down and gives the ledger lines that carry them; the caller posts them with the
 * rest of the sale, in the same transaction.
 */
export async function accrueShares(
  tx: Tx,
  sale: AccruedSale,
  subject: string,
  shares: readonly Share[],
): Promise<LedgerLine[]> {
  const [lines] = await accrueAll(tx, [{ sale, subject, shares }])
  return lines as LedgerLine[]
}

/** The same for sales that end together: they share a shard, so that each creator's balance is touched once. */
export async function accrueAll(tx: Tx, accruals: readonly Accrual[]): Promise<LedgerLine[][]> {
  const [first] = accruals
  if (!first) return []
  const shard = shardOf(first.sale.paymentId)
  const paid = accruals.map(({ shares }) => shares.filter(({ micro }) => micro > 0n))
  const rows = accruals.flatMap(({ sale, subject }, index) =>
    (paid[index] as Share[]).map((share, place) => ({ sale, subject, share, place })),
  )
  await insertAccruals(tx, shard, rows)
  await recordWaiting(tx, rows)
  return accruals.map(({ sale }, index) =>
    mergeLines(
      (paid[index] as Share[]).map(({ payee, micro }) => ({
        account:
          payee.wallet === undefined
            ? creatorAccounts.waiting(sale.network, payee.registrable, shard)
            : accruedAccount(sale.network, payee.wallet, shard),
        amount: -micro,
      })),
    ),
  )
}

type NewRow = { sale: AccruedSale; subject: string; share: Share; place: number }

async function insertAccruals(tx: Tx, shard: number, rows: readonly NewRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'creator_accrue',
    text: `insert into creator_accrual (subject, place, payment_id, round, source, payer, network, domain, registrable,
        payee_domain, wallet, shard, micro, state, held_until, held_reason, created_at, page)
      select t.subject, t.place, t.payment, t.round, t.source, t.payer, t.network, t.domain, t.registrable, t.domain,
        t.wallet, $1,
        t.micro, case when t.wallet is null then 'waiting' else 'accrued' end, t.held_until, t.held_reason, t.at, t.page
      from unnest($2::text[], $3::smallint[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::bigint[], $13::timestamptz[], $14::text[], $15::timestamptz[],
        $16::text[])
        t (subject, place, payment, round, source, payer, network, domain, registrable, wallet, micro, held_until,
          held_reason, at, page)`,
    values: [
      shard,
      rows.map(({ subject }) => subject),
      rows.map(({ place }) => place),
      rows.map(({ sale }) => sale.paymentId),
      rows.map(({ sale }) => sale.round),
      rows.map(({ sale }) => sale.source),
      rows.map(({ sale }) => sale.payer),
      rows.map(({ sale }) => sale.network),
      rows.map(({ share }) => share.payee.domain),
      rows.map(({ share }) => share.payee.registrable),
      rows.map(({ share }) => share.payee.wallet ?? null),
      rows.map(({ share }) => share.micro),
      rows.map(({ share }) => (share.held ? new Date(share.held.untilMs) : null)),
      rows.map(({ share }) => share.held?.reason ?? null),
      rows.map(({ sale }) => new Date(sale.settledAtMs)),
      rows.map(({ share }) => share.page ?? null),
    ],
  })
}

/** So that release finds the domain without reading its shares. Its row is written once: sales do not queue up at it. */
async function recordWaiting(tx: Tx, rows: readonly NewRow[]): Promise<void> {
  const waiting = new Map(
    rows
      .map(({ share }) => share.payee)
      .filter(({ wallet }) => wallet === undefined)
      .map(({ domain, registrable }) => [domain, registrable]),
  )
  if (waiting.size === 0) return
  await tx.query({
    name: 'creator_note_waiting',
    text: `insert into creator_waiting (domain, registrable, look_at)
      select t.domain, t.registrable, '-infinity' from unnest($1::text[], $2::text[]) t (domain, registrable)
      order by t.domain on conflict do nothing`,
    values: [[...waiting.keys()], [...waiting.values()]],
  })
}
