import { toHex } from '@assay/protocol/bytes'
import { type PaymentRecord, paymentColumns, toPaymentRecord } from '../contract/payment-record.ts'
import type { Sql } from '../store/database.ts'
import { type PaymentState, paidStates, sqlList, unsoldStates } from '../transitions/payment-state.ts'

export async function ownersNotYetDead(sql: Sql): Promise<bigint[]> {
  const { rows } = await sql.query<{ owner: bigint }>(`select owner from payment_owner where dead_at is null`)
  return rows.map((row) => row.owner)
}

export async function markOwnerDead(sql: Sql, owner: bigint, nowMs: number): Promise<void> {
  await sql.query(`update payment_owner set dead_at = $2 where owner = $1 and dead_at is null`, [
    owner,
    new Date(nowMs),
  ])
}

/** Unfinished payments whose owner is dead or has held them longer than any request may take. */
const abandonedState = `state in ('claimed','settling')
  and (lease_until < (select lease_now()) or owner in (select owner from payment_owner where dead_at is not null))`
const abandoned = `phase = 'open' and ${abandonedState}`

export async function abandonedPayments(sql: Sql, limit: number): Promise<PaymentRecord[]> {
  return read(sql, 'abandoned', `where ${abandoned} order by claimed_at limit $1`, [limit])
}

const unsold = `phase in ${sqlList(unsoldStates)} and not final`
const notFinal = `not final and phase in ${sqlList(paidStates)}`

/** Whether recovery may find something to do. */
export const recoveryDueSql = (ownOwner: bigint) =>
  `exists (select from unfinished_payments() where state in ('unknown', 'settled') or (${abandonedState}))
   or exists (select from payment where ${unsold})
   or exists (select from payment_owner where dead_at is null and owner <> ${ownOwner} and not owner_alive(owner))`

/** Whether a payment waits for its block to be final. */
export const notFinalSql = `exists (select from payment where ${notFinal})`

export const hasUnsold = (sql: Sql, network: string) => hasAny(sql, 'unsold', unsold, network)
export const hasNotFinal = (sql: Sql, network: string) => hasAny(sql, 'not_final', notFinal, network)

async function hasAny(sql: Sql, name: string, which: string, network: string): Promise<boolean> {
  const text = `select from payment where ${which} and network = $1 limit 1`
  const { rowCount } = await sql.query({ name: `read_has_${name}`, text, values: [network] })
  return rowCount > 0
}

/** Whether a sale changed something beside its answer. */
export async function hadEffect(sql: Sql, id: string): Promise<boolean> {
  const { rows } = await sql.query<{ had_effect: boolean }>('select had_effect from payment where id = $1', [id])
  return rows[0]?.had_effect ?? false
}

/** A page of them, after the last payment of the page before. */
export async function paymentsIn(
  sql: Sql,
  state: 'unknown' | 'settled',
  afterId: string,
  limit: number,
): Promise<PaymentRecord[]> {
  return read(
    sql,
    state,
    `where phase = '${state === 'unknown' ? 'open' : state}' and state = '${state}' and id > $1 order by id limit $2`,
    [afterId, limit],
  )
}

/** Refused payments whose time has passed at a final block: they are on chain by now, or never will be. */
export async function watchedPayments(
  sql: Sql,
  network: string,
  finalTimestamp: number,
  limit: number,
): Promise<PaymentRecord[]> {
  return read(sql, 'watched', `where ${unsold} and network = $1 and valid_before < $2 order by valid_before limit $3`, [
    network,
    finalTimestamp,
    limit,
  ])
}

/** What finality is decided by. Every sale passes here, and hardly any is looked at further. */
export type NotFinal = Pick<PaymentRecord, 'id' | 'state' | 'blockNumber' | 'blockHash'>

export async function notFinalUpTo(sql: Sql, network: string, block: bigint, limit: number): Promise<NotFinal[]> {
  const { rows } = await sql.query<{
    id: string
    state: PaymentState
    block_number: bigint
    block_hash: Buffer | null
  }>({
    name: 'read_payments_not_final',
    text: `select id, state, block_number, block_hash from payment
      where ${notFinal} and network = $1 and block_number <= $2 order by block_number limit $3`,
    values: [network, block, limit],
  })
  return rows.map(({ id, state, block_number, block_hash }) => ({
    ...{ id, state },
    blockNumber: block_number,
    blockHash: block_hash && toHex(block_hash),
  }))
}

/**
 * Only what is still as it was read: a released payment may have been claimed again meanwhile. A transfer that counted as
 * reorganised may stand in a block that was recorded before, so its payment says that it is final.
 */
export async function markFinal(sql: Sql, payments: readonly Pick<PaymentRecord, 'id' | 'state'>[]): Promise<void> {
  await sql.query(
    `with marked as (
       update payment p set final = true, provisional = false
       from unnest($1::text[], $2::text[]) t (id, state) where p.id = t.id and p.state = t.state
       returning p.network, p.transaction, p.log_position, p.block_hash, p.reorgs)
     update transfer t set final = true from marked m where m.reorgs > 0
       and t.network = m.network and t.transaction = m.transaction and t.position = m.log_position and t.block_hash = m.block_hash`,
    [payments.map(({ id }) => id), payments.map(({ state }) => state)],
  )
}

/** Prepared: every round asks, mostly for nothing, and planning over all partitions takes longer than the answer. */
async function read(sql: Sql, name: string, where: string, values: readonly unknown[]): Promise<PaymentRecord[]> {
  const text = `select ${paymentColumns} from payment ${where}`
  const { rows } = await sql.query({ name: `read_payments_${name}`, text, values })
  return rows.map(toPaymentRecord)
}

/** How many payments one of our own transactions carried; undefined when it is somebody else's. */
export async function paymentsInTransaction(
  sql: Sql,
  network: string,
  transaction: string,
): Promise<bigint | undefined> {
  const { rows } = await sql.query<{ carried: number }>(
    `select cardinality(reference_ids) as carried from settlement_transaction
     where network = $1 and (hash = $2 or $2 = any(earlier_hashes)) and purpose = 'settle'`,
    [network, transaction],
  )
  const carried = rows[0]?.carried
  return carried === undefined || carried === 0 ? undefined : BigInt(carried)
}
