import type { Address } from '@assay/protocol/address'
import type { AssetId } from '@assay/protocol/asset'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { fromHex } from '../kernel/bytes.ts'
import type { Sql, Tx } from '../store/database.ts'
import type { TransferTurn } from './transaction.ts'
import { transferKey } from './transfer-key.ts'

/** A transfer into or out of an address of ours, as the chain shows it. */
export type MovedMoney = {
  network: string
  asset: AssetId
  transaction: Hex
  position: number
  sender: Address
  recipient: Address
  amountMicro: Micro
  /** The key that the chain shows it was made with, or that it was claimed by; undefined for a plain transfer. */
  paymentKey: Hex | undefined
  blockNumber: bigint
  blockHash: Hex
}

/** What a transfer is posted as, and the payment, payout or wallet it is posted for. */
export type TransferPosting = { as: string; for: string }

/**
 * Takes transfers for posting, in the transaction that posts them. Undefined for each that was posted before:
 * the caller must not post its money again.
 */
export async function takeTransfers(
  tx: Tx,
  taken: readonly { money: MovedMoney; posting: TransferPosting }[],
  nowMs: number,
): Promise<(TransferTurn | undefined)[]> {
  if (taken.length === 0) return []
  const keys = taken.map(({ money }) => transferKey(money))
  const { rows } = await tx.query<{ place: number; id: bigint; turn: number }>({
    name: 'transfer_take',
    text: 'select * from transfer_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
    values: [
      keys.map(({ network }) => network),
      taken.map(({ money }) => money.asset),
      keys.map(({ transaction }) => fromHex(transaction)),
      keys.map(({ position }) => position),
      taken.map(({ money }) => money.sender),
      taken.map(({ money }) => money.recipient),
      taken.map(({ money }) => money.amountMicro),
      taken.map(({ money }) => (money.paymentKey === undefined ? null : fromHex(money.paymentKey))),
      taken.map(({ money }) => money.blockNumber),
      taken.map(({ money }) => fromHex(money.blockHash)),
      taken.map(({ posting }) => posting.as),
      taken.map(({ posting }) => posting.for),
      new Date(nowMs),
    ],
  })
  const byPlace = new Map(rows.map(({ place, id, turn }) => [place, { id, turn }]))
  return taken.map((_, index) => byPlace.get(index + 1))
}

export async function takeTransfer(
  tx: Tx,
  money: MovedMoney,
  posting: TransferPosting,
  nowMs: number,
): Promise<TransferTurn | undefined> {
  return (await takeTransfers(tx, [{ money, posting }], nowMs))[0]
}

/**
 * A reorganisation took the transfer away: its row is free again, and the answer is the turn of the posting that takes
 * its money back. Undefined when it is not posted for this subject.
 */
export async function releaseTransfer(
  tx: Tx,
  key: Pick<MovedMoney, 'network' | 'transaction' | 'position'>,
  postedFor: string,
): Promise<TransferTurn | undefined> {
  const { rows } = await tx.query<{ id: bigint; turn: number }>(
    `update transfer set posted_as = null, posted_for = null, posted_at = null, final = false, turn = turn + 2
     where network = $1 and transaction = $2 and position = $3 and posted_for = $4
     returning id, turn`,
    [key.network, fromHex(key.transaction), key.position, postedFor],
  )
  const [row] = rows
  return row && { id: row.id, turn: row.turn - 1 }
}

export type TransferRow = MovedMoney & {
  id: bigint
  turn: number
  postedAs: string | null
  postedFor: string | null
  final: boolean
  tries: number
}

const columns = `id, network, asset, '0x' || encode(transaction, 'hex') as transaction, position, sender, recipient,
  amount_micro as "amountMicro", '0x' || encode(payment_key, 'hex') as "paymentKey", block_number as "blockNumber",
  '0x' || encode(block_hash, 'hex') as "blockHash", turn,
  posted_as as "postedAs", posted_for as "postedFor", final, tries`

/** Transfers with a payment key, whatever they were posted as. */
export async function transfersOfKey(
  sql: Sql,
  key: { network: string; sender: Address; paymentKey: Hex },
): Promise<TransferRow[]> {
  const { rows } = await sql.query<TransferRow>(
    `select ${columns} from transfer
     where network || sender || encode(payment_key, 'hex') = $1 || $2 || encode($3, 'hex')
       and network = $1 and sender = $2 and payment_key = $3 order by id`,
    [key.network, key.sender, fromHex(key.paymentKey)],
  )
  return rows.map(withoutNull)
}

/** Up to which block every transfer into or out of our addresses has its row. */
export async function recordedUpTo(sql: Sql, network: string): Promise<bigint> {
  const { rows } = await sql.query<{ block: bigint | null }>(
    `select min(block_number) as block from reconcile_cursor where network = $1`,
    [network],
  )
  return rows[0]?.block ?? -1n
}

/** Final transfers that nothing explains yet and whose next try is due: first those of these senders, then oldest first. */
export async function unexplainedTransfers(
  sql: Sql,
  network: string,
  nowMs: number,
  limit: number,
  sendersFirst: readonly Address[],
): Promise<TransferRow[]> {
  const { rows } = await sql.query<TransferRow>(
    `select ${columns} from transfer where network = $1 and posted_as is null and final and try_at <= $2
     order by sender = any($4::text[]) desc, try_at, id limit $3`,
    [network, new Date(nowMs), limit, sendersFirst],
  )
  return rows.map(withoutNull)
}

/** Tried again later, after a wait that doubles up to ten minutes: one row never holds up the others. */
export async function postponeTransfer(sql: Sql, id: bigint, nowMs: number): Promise<void> {
  await sql.query(
    `update transfer set tries = tries + 1, try_at = $2::timestamptz + least(600, power(2, least(tries, 10))) * interval '1 second'
     where id = $1 and posted_as is null`,
    [id, new Date(nowMs)],
  )
}

function withoutNull(row: TransferRow): TransferRow {
  return { ...row, paymentKey: row.paymentKey ?? undefined }
}
