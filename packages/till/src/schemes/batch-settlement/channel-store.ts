import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { ChannelConfig } from '@assay/protocol/typed-data/channel'
import type { ChannelState } from '../../chain/index.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Sql, Tx } from '../../store/database.ts'
import { type ChannelRecord, channelColumns, toChannelRecord } from './channel-record.ts'

type Key = { network: string; id: Hex }

/** Where there are channels: elsewhere no chain is asked about them. */
export async function usedNetworks(sql: Sql): Promise<Set<string>> {
  const { rows } = await sql.query<{ network: string }>('select distinct network from channel')
  return new Set(rows.map(({ network }) => network))
}

export async function readChannel(sql: Sql, { network, id }: Key): Promise<ChannelRecord | undefined> {
  const { rows } = await sql.query({
    name: 'channel-read',
    text: `select ${channelColumns} from channel where network = $1 and id = $2`,
    values: [network, fromHex(id)],
  })
  return rows[0] && toChannelRecord(rows[0])
}

/** A channel that is not known yet begins with what was claimed from it before, which no sale of ours explains. */
export async function insertChannel(
  sql: Sql,
  { network, id }: Key,
  config: ChannelConfig,
  state: ChannelState,
  nowMs: number,
): Promise<void> {
  await sql.query(
    `insert into channel (network, id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay, salt,
       charged_micro, balance_micro, claimed_micro, posted_micro, refund_nonce, withdraw_started_at, opened_at, at_block)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10, $10, $12, $13, $14, $15) on conflict do nothing`,
    [
      network,
      fromHex(id),
      config.payer,
      config.payerAuthorizer,
      config.receiver,
      config.receiverAuthorizer,
      config.token,
      config.withdrawDelay,
      fromHex(config.salt),
      state.claimedMicro,
      state.balanceMicro,
      state.refundNonce,
      state.withdrawStartedAt,
      new Date(nowMs),
      state.atBlock,
    ],
  )
}

/**
 * What the contract has now. A reader that lags must neither make room for a claim twice nor bring back a deposit that
 * was refunded, so a state of an older block is not taken.
 */
export async function saveState(sql: Sql, { network, id }: Key, state: ChannelState): Promise<void> {
  await sql.query(
    `update channel set balance_micro = $3, claimed_micro = greatest(claimed_micro, $4), refund_nonce = $5,
       withdraw_started_at = $6, at_block = $7,
       unclaimed_since = case when charged_micro > greatest(claimed_micro, $4) then unclaimed_since end,
       claim_failing_since = case when charged_micro > greatest(claimed_micro, $4) then claim_failing_since end
     where network = $1 and id = $2 and at_block <= $7`,
    [
      ...[network, fromHex(id), state.balanceMicro, state.claimedMicro, state.refundNonce, state.withdrawStartedAt],
      state.atBlock,
    ],
  )
}

/** Others may know every voucher up to now. */
export async function recordPublic(sql: Sql, keys: readonly Key[]): Promise<void> {
  await sql.query(
    `update channel c set public_micro = greatest(c.public_micro, c.signed_micro) from unnest($1::text[], $2::bytea[]) i (network, id)
     where c.network = i.network and c.id = i.id`,
    [keys.map(({ network }) => network), keys.map(({ id }) => fromHex(id))],
  )
}

/** A voucher sale that is to be committed. */
export type VoucherDraw = Key & {
  baseMicro: Micro
  sequence: bigint
  signedMicro: Micro
  chargeMicro: Micro
  signature: Hex
}

/** Raises what is charged, where nothing came in between. The places of those that it raised. */
export async function raiseCharges(tx: Tx, draws: readonly VoucherDraw[], nowMs: number): Promise<Set<number>> {
  const { rows } = await tx.query<{ place: number }>({
    name: 'channel-raise',
    text: `update channel c set charged_micro = c.charged_micro + i.charge, sequence = c.sequence + 1,
        signed_micro = i.signed, signature = i.signature,
        unclaimed_since = case when c.charged_micro > c.claimed_micro then c.unclaimed_since when i.charge > 0 then $8::timestamptz end
      from unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
        with ordinality i (network, id, base, sequence, signed, charge, signature, place)
      where c.network = i.network and c.id = i.id and c.charged_micro = i.base and c.sequence = i.sequence
        and c.state = 'open' and c.withdraw_started_at = 0 and c.balance_micro >= i.signed
      returning i.place::integer as place`,
    values: [
      draws.map(({ network }) => network),
      draws.map(({ id }) => fromHex(id)),
      draws.map(({ baseMicro }) => baseMicro),
      draws.map(({ sequence }) => sequence),
      draws.map(({ signedMicro }) => signedMicro),
      draws.map(({ chargeMicro }) => chargeMicro),
      draws.map(({ signature }) => fromHex(signature)),
      new Date(nowMs),
    ],
  })
  return new Set(rows.map(({ place }) => place - 1))
}

type SaleFacts = { sequence: bigint; callId: string; fingerprint: Buffer; signedMicro: Micro }

export type StoredSale = SaleFacts & {
  status: number
  contentType: string
  headers: Record<string, string>
  body: Buffer
  paymentResponse: string
}

export type NewSale = Key &
  StoredSale & { payer: Address; identifierHash: Buffer | null; chargeMicro: Micro; routeId: string }

export async function insertSales(tx: Tx, sales: readonly NewSale[], nowMs: number): Promise<void> {
  await tx.query({
    name: 'channel-sale-insert',
    text: `with input as (
        select * from unnest($1::text[], $2::bytea[], $3::bigint[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::bigint[],
          $9::bigint[], $10::text[], $11::integer[], $12::text[], $13::jsonb[], $14::bytea[], $15::text[]) as i(network, channel_id,
          sequence, call_id, payer, fingerprint, identifier_hash, signed_micro, charge_micro, route_id, status, content_type,
          headers, body, payment_response)),
      answered as (
        insert into call_answer (call_id, account, status, content_type, headers, body, payment_response)
        select call_id, payer, status, content_type, headers, body, payment_response from input)
      insert into channel_sale (network, channel_id, sequence, call_id, payer, fingerprint, identifier_hash, signed_micro, charge_micro,
        route_id, sold_at)
      select network, channel_id, sequence, call_id, payer, fingerprint, identifier_hash, signed_micro, charge_micro, route_id,
        $16::timestamptz from input`,
    values: [
      sales.map(({ network }) => network),
      sales.map(({ id }) => fromHex(id)),
      sales.map(({ sequence }) => sequence),
      sales.map(({ callId }) => callId),
      sales.map(({ payer }) => payer),
      sales.map(({ fingerprint }) => fingerprint),
      sales.map(({ identifierHash }) => identifierHash),
      sales.map(({ signedMicro }) => signedMicro),
      sales.map(({ chargeMicro }) => chargeMicro),
      sales.map(({ routeId }) => routeId),
      sales.map(({ status }) => status),
      sales.map(({ contentType }) => contentType),
      sales.map(({ headers }) => JSON.stringify(headers)),
      sales.map(({ body }) => body),
      sales.map(({ paymentResponse }) => paymentResponse),
      new Date(nowMs),
    ],
  })
}

/** The newest sale of a channel is kept for ever, its answer as long as that of any other. */
export type FoundSale = StoredSale | (SaleFacts & { body: null })

/** Throws where the answer is gone: it was paid for, and is not to be paid for again. */
export function requireAnswer(sale: FoundSale): StoredSale {
  if (sale.body === null) throw new Problem('payment_used', { detail: 'Its answer is no longer kept.' })
  return sale
}

const saleSql = `select s.sequence, s.call_id as "callId", s.fingerprint, s.signed_micro as "signedMicro", a.status,
    a.content_type as "contentType", a.headers, a.body, a.payment_response as "paymentResponse", '0x' || encode(s.channel_id, 'hex') as id
  from channel_sale s left join call_answer a on a.call_id = s.call_id and a.account = s.payer`

export async function readSale(sql: Sql, { network, id }: Key, sequence: bigint): Promise<FoundSale | undefined> {
  const { rows } = await sql.query<FoundSale>(
    `${saleSql} where s.network = $1 and s.channel_id = $2 and s.sequence = $3`,
    [network, fromHex(id), sequence],
  )
  return rows[0]
}

export async function saleByIdentifier(
  sql: Sql,
  payer: Address,
  identifierHash: Buffer,
): Promise<(FoundSale & { id: Hex }) | undefined> {
  const { rows } = await sql.query<FoundSale & { id: Hex }>(
    `${saleSql} where s.payer = $1 and s.identifier_hash = $2`,
    [payer, identifierHash],
  )
  return rows[0]
}

/** Whether the identifier names a purchase that was paid in another way. */
export async function isIdentifierClaimed(sql: Sql, payer: Address, identifierHash: Buffer): Promise<boolean> {
  const { rowCount } = await sql.query(`select from claim where payer = $1 and identifier_hash = $2`, [
    payer,
    identifierHash,
  ])
  return rowCount > 0
}

/** What became of a sale whose commit nobody saw end: waits for it, if it is still under way. */
export async function endOfSale(sql: Sql, { network, id }: Key, callId: string): Promise<boolean> {
  await sql.query(`update channel set sequence = sequence where network = $1 and id = $2`, [network, fromHex(id)])
  const { rowCount } = await sql.query(`select from channel_sale where call_id = $1`, [callId])
  return rowCount > 0
}

export type Undelivered = { sequence: bigint; fingerprint: string }

/** Sales whose answer did not reach its buyer, oldest first; the newest may be on their way. */
export async function undeliveredSales(sql: Sql, { network, id }: Key, max: number): Promise<Undelivered[]> {
  const { rows } = await sql.query<Undelivered>(
    `select sequence, encode(fingerprint, 'hex') as fingerprint from channel_sale
     where network = $1 and channel_id = $2 and delivered_at is null order by sequence desc limit $3`,
    [network, fromHex(id), max],
  )
  return rows.reverse()
}

export type DeliveredSale = Key & { sequence: bigint }

export async function markSalesDelivered(sql: Sql, sales: readonly DeliveredSale[], nowMs: number): Promise<void> {
  await sql.query({
    name: 'channel-sale-delivered',
    text: `update channel_sale s set delivered_at = $4 from unnest($1::text[], $2::bytea[], $3::bigint[]) i (network, id, sequence)
      where s.network = i.network and s.channel_id = i.id and s.sequence = i.sequence and s.delivered_at is null`,
    values: [
      sales.map(({ network }) => network),
      sales.map(({ id }) => fromHex(id)),
      sales.map(({ sequence }) => sequence),
      new Date(nowMs),
    ],
  })
}

/** Sales are kept as long as their answers; the newest of a channel for ever, as its voucher is. */
export async function deleteSales(sql: Sql, beforeMs: number): Promise<number> {
  const { rowCount } = await sql.query(
    `delete from channel_sale s using channel c where s.sold_at < $1 and c.network = s.network and c.id = s.channel_id
       and s.sequence < c.sequence`,
    [new Date(beforeMs)],
  )
  return rowCount
}
