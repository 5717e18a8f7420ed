import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Tx } from '@assay/till/store/database'
import { isTradable } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { type Book, createOrderBook, type Fill } from './domain/book.ts'
import type { Reserved, ReserveRequest } from './reserve-contracts.ts'
import { type Series, writeEvents } from './series-store.ts'

/** Everything besides the books that decides about a batch of reservations. */
export type Wanted = {
  agreed: Map<string, Micro>
  /** Contracts of a wallet in a series, by `symbol holder`. */
  held: Map<string, number>
  earlier: Map<string, { symbol: string; quantity: number; reserved: Omit<Reserved, 'series'> }>
  /** Micro-USDC a point of all contracts that one push of the index would move, by `pushKey`. */
  interest: Map<string, Micro>
  vault: { limitMicro: Micro; usedMicro: Micro }
  /** When a restore was last noticed: copies of books from before it are not used. */
  restoredAtMs: number
}

/** One push moves every strike of a topic and expiry, calls one way and puts the other. */
export const pushKey = ({ cluster, expiresAtMs, kind }: Pick<Series, 'cluster' | 'expiresAtMs' | 'kind'>): string =>
  `${cluster} ${expiresAtMs} ${kind}`

export async function loadOrderBook(tx: Tx, symbol: string): Promise<Book> {
  const { rows } = await tx.query<{ id: string; writer: string; price_micro: Micro; seq: bigint; open: number }>({
    name: 'option-load-book',
    text: `select id, writer, price_micro, seq, open_quantity as open from option_order o
      where symbol = $1 and ${isTradable} order by price_micro, seq`,
    values: [symbol],
  })
  const book = createOrderBook()
  for (const { id, writer, price_micro, seq, open } of rows)
    book.place({ id, writer, price: Number(price_micro), seq: Number(seq), quantity: open })
  return book
}

export async function readWanted(tx: Tx, requests: readonly ReserveRequest[]): Promise<Wanted> {
  const ids = requests.map(({ paymentId }) => paymentId)
  const agreed = await tx.query<{ id: string; micro: Micro }>({
    name: 'option-agreed',
    text: `select id, amount_micro as micro from payment where id = any($1)
      union all select id, amount from entitled_call where id = any($1)`,
    values: [ids],
  })
  const held = await tx.query<{ symbol: string; holder: Address; quantity: bigint }>({
    name: 'option-held',
    text: `select symbol, holder, sum(quantity)::bigint as quantity from option_position
      where state in ('held', 'open') and symbol = any($1) and holder = any($2) group by symbol, holder`,
    values: [requests.map(({ symbol }) => symbol), requests.map(({ holder }) => holder)],
  })
  // Locked last and by everybody: what one batch takes of the vault's capital the next one sees.
  const vault = await tx.query<{ limit_micro: Micro; used_micro: Micro; restored_at: Date | null }>({
    name: 'option-vault',
    text: `select limit_micro, used_micro, (select max(noticed_at) from restore_gap) as restored_at from option_vault for update`,
  })
  // After the lock above, so that what other processes have just sold of the neighbouring strikes is in it.
  const interest = await tx.query<{ cluster: string; expires_at: Date; kind: Series['kind']; micro: Micro }>({
    name: 'option-interest',
    text: `select cluster, expires_at, kind, sum(sold * size_micro)::bigint as micro from option_series
      where (cluster, expires_at, kind) in (select cluster, expires_at, kind from option_series where symbol = any($1))
      group by cluster, expires_at, kind`,
    values: [requests.map(({ symbol }) => symbol)],
  })
  return {
    agreed: new Map(agreed.rows.map(({ id, micro }) => [id, micro])),
    held: new Map(held.rows.map(({ symbol, holder, quantity }) => [`${symbol} ${holder}`, Number(quantity)])),
    earlier: await readEarlier(tx, ids),
    interest: new Map(
      interest.rows.map(({ cluster, expires_at, kind, micro }) => [
        pushKey({ cluster, expiresAtMs: expires_at.getTime(), kind }),
        micro,
      ]),
    ),
    vault: { limitMicro: vault.rows[0]?.limit_micro ?? 0n, usedMicro: vault.rows[0]?.used_micro ?? 0n },
    restoredAtMs: vault.rows[0]?.restored_at?.getTime() ?? 0,
  }
}

async function readEarlier(tx: Tx, paymentIds: readonly string[]): Promise<Wanted['earlier']> {
  const { rows } = await tx.query<{
    id: string
    symbol: string
    payment_id: string
    quantity: number
    premium_micro: Micro
    fills: { order_id: string | null; writer: string; quantity: number; price_micro: number }[]
  }>({
    name: 'option-earlier',
    text: `select p.id, p.symbol, p.payment_id, p.quantity, p.premium_micro,
        (select json_agg(json_build_object('order_id', f.order_id, 'writer', f.writer, 'quantity', f.quantity,
           'price_micro', f.price_micro) order by f.place) from option_fill f where f.position_id = p.id) as fills
      from option_position p where p.payment_id = any($1) and p.state = 'held'`,
    values: [paymentIds],
  })
  return new Map(
    rows.map((row) => [
      row.payment_id,
      {
        symbol: row.symbol,
        quantity: row.quantity,
        reserved: {
          positionId: row.id,
          premiumMicro: row.premium_micro,
          fills: row.fills.map((fill) => ({
            offerId: fill.order_id,
            writer: fill.writer,
            quantity: fill.quantity,
            price: Number(fill.price_micro),
          })),
        },
      },
    ]),
  )
}

export type ReservationDraft = Omit<Reserved, 'series'> & { request: ReserveRequest; capMicro: Micro }

export async function writeReservations(
  deps: OptionDeps,
  tx: Tx,
  { drafts, vaultUsedMicro, nowMs }: { drafts: readonly ReservationDraft[]; vaultUsedMicro: Micro; nowMs: number },
): Promise<void> {
  if (drafts.length === 0) return
  const vaultOf = vaultParts(drafts)
  await tx.query({
    name: 'option-insert-positions',
    text: `insert into option_position (id, symbol, holder, payment_id, quantity, premium_micro, vault_micro, state,
        reserved_at, held_until)
      select id, symbol, holder, payment, quantity, premium, vault, 'held', $8, $9
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[])
        d (id, symbol, holder, payment, quantity, premium, vault)`,
    values: [
      drafts.map(({ positionId }) => positionId),
      drafts.map(({ request }) => request.symbol),
      drafts.map(({ request }) => request.holder),
      drafts.map(({ request }) => request.paymentId),
      drafts.map(({ request }) => request.quantity),
      drafts.map(({ premiumMicro }) => premiumMicro),
      drafts.map(({ positionId }) => vaultOf.get(positionId) ?? 0n),
      new Date(nowMs),
      new Date(nowMs + deps.settings.reservationMs),
    ],
  })
  await writeFills(tx, drafts)
  await tx.query({
    name: 'option-move-series',
    text: `update option_series s set seq = s.seq + d.changes, sold = s.sold + d.quantity
      from (select symbol, count(*) as changes, sum(quantity)::integer as quantity
            from unnest($1::text[], $2::integer[]) d (symbol, quantity) group by symbol) d
      where s.symbol = d.symbol`,
    values: [drafts.map(({ request }) => request.symbol), drafts.map(({ request }) => request.quantity)],
  })
  if ([...vaultOf.values()].some((micro) => micro > 0n))
    await tx.query(`update option_vault set used_micro = $1`, [vaultUsedMicro])
  await writeEvents(
    tx,
    drafts.map(({ request, positionId, premiumMicro }) => ({
      symbol: request.symbol,
      kind: 'reserved' as const,
      subject: positionId,
      quantity: request.quantity,
      priceMicro: premiumMicro,
    })),
    nowMs,
  )
}

function vaultParts(drafts: readonly ReservationDraft[]): Map<string, Micro> {
  const parts = new Map<string, Micro>()
  for (const { positionId, capMicro, fills } of drafts)
    for (const { offerId, quantity, price } of fills)
      if (offerId === null) {
        const lockedMicro = BigInt(quantity) * (capMicro - BigInt(price))
        parts.set(positionId, (parts.get(positionId) ?? 0n) + lockedMicro)
      }
  return parts
}

async function writeFills(tx: Tx, drafts: readonly ReservationDraft[]): Promise<void> {
  const fills = drafts.flatMap(({ positionId, fills: own }) =>
    own.map((fill, place) => ({ positionId, place, ...fill })),
  ) satisfies (Fill & { positionId: string; place: number })[]
  await tx.query({
    name: 'option-insert-fills',
    text: `insert into option_fill (position_id, place, order_id, writer, quantity, price_micro, paid_micro)
      select f.*, f.price from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::integer[], $6::bigint[])
        f (position_id, place, order_id, writer, quantity, price)`,
    values: [
      fills.map(({ positionId }) => positionId),
      fills.map(({ place }) => place),
      fills.map(({ offerId }) => offerId),
      fills.map(({ writer }) => writer),
      fills.map(({ quantity }) => quantity),
      fills.map(({ price }) => BigInt(price)),
    ],
  })
  const offered = fills.filter(({ offerId }) => offerId !== null)
  if (offered.length === 0) return
  await tx.query({
    name: 'option-take-orders',
    text: `update option_order o set open_quantity = o.open_quantity - d.quantity
      from (select id, sum(quantity)::integer as quantity from unnest($1::text[], $2::integer[]) d (id, quantity) group by id) d
      where o.id = d.id`,
    values: [offered.map(({ offerId }) => offerId), offered.map(({ quantity }) => quantity)],
  })
}
