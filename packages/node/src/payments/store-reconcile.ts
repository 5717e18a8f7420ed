import type { InboundTransfer } from '../chain/index.ts'
import type { Address } from '../kernel/address.ts'
import type { Micro } from '../kernel/money.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database, Sql } from '../store/database.ts'

export type Cursor = { network: string; address: Address; blockNumber: bigint; onchainMicro: Micro }

export async function readCursor(sql: Sql, network: string, address: Address): Promise<Cursor | undefined> {
  const { rows } = await sql.query<{ block_number: bigint; onchain_micro: bigint }>(
    `select block_number, onchain_micro from reconcile_cursor where network = $1 and address = $2`,
    [network, address],
  )
  const row = rows[0]
  return row && { network, address, blockNumber: row.block_number, onchainMicro: row.onchain_micro }
}

export type CursorStep = {
  payee: 'pay_to' | 'custody'
  toBlock: bigint
  onchainMicro: Micro
  /** What the operator took out on the way. */
  withdrawnMicro: Micro
}

/**
 * Moves the cursor and books what was withdrawn in between, in one transaction: whatever fails before it, the same
 * blocks are looked at again. False when the cursor is no longer where this step began.
 */
export async function advanceCursor(
  database: Database,
  cursor: Cursor,
  step: CursorStep,
  nowMs: number,
): Promise<boolean> {
  const { network, address, blockNumber } = cursor
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update reconcile_cursor set block_number = $4, onchain_micro = $5, checked_at = $6
       where network = $1 and address = $2 and block_number = $3`,
      [network, address, blockNumber, step.toBlock, step.onchainMicro, new Date(nowMs)],
    )
    if (rowCount === 0) return false
    if (step.withdrawnMicro > 0n)
      await post(tx, [
        {
          reference: `withdrawal:${network}:${address}:${blockNumber + 1n}-${step.toBlock}`,
          kind: 'withdrawal',
          lines: [
            { account: accounts.operator(network, 'usdc'), amount: step.withdrawnMicro },
            { account: accounts.onchain(network, step.payee), amount: -step.withdrawnMicro },
          ],
        },
      ])
    return true
  })
}

/** The opening balance and the cursor that begins behind it, in one transaction. */
export async function openCursor(
  database: Database,
  opening: Cursor & { payee: 'pay_to' | 'custody' },
  nowMs: number,
): Promise<Cursor> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `insert into reconcile_cursor (network, address, block_number, onchain_micro, checked_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [opening.network, opening.address, opening.blockNumber, opening.onchainMicro, new Date(nowMs)],
    )
    if (rowCount > 0 && opening.onchainMicro > 0n)
      await post(tx, [
        {
          reference: `opening:${opening.network}:${opening.address}`,
          kind: 'opening',
          lines: [
            { account: accounts.onchain(opening.network, opening.payee), amount: opening.onchainMicro },
            { account: accounts.operator(opening.network, 'usdc'), amount: -opening.onchainMicro },
          ],
        },
      ])
    return (await readCursor(tx, opening.network, opening.address)) as Cursor
  })
}

/** Which transfers a payment or a review already explains, as `transaction logIndex`. */
export async function matchedTransfers(
  sql: Sql,
  network: string,
  transfers: readonly InboundTransfer[],
): Promise<Set<string>> {
  if (transfers.length === 0) return new Set()
  const { rows } = await sql.query<{ transaction: string; log_index: number }>(
    `select t.transaction, t.log_index from unnest($2::text[], $3::integer[]) as t(transaction, log_index)
     where exists (select 1 from payment p where p.network = $1 and p.transaction = t.transaction and p.log_index = t.log_index
                   and p.state in ('settled','served','credited','refunded'))
        or exists (select 1 from inbound_review r where r.network = $1 and r.transaction = t.transaction and r.log_index = t.log_index)`,
    [network, transfers.map((transfer) => transfer.transaction), transfers.map((transfer) => transfer.logIndex)],
  )
  return new Set(rows.map((row) => `${row.transaction} ${row.log_index}`))
}

/** A plain transfer: it is in the books as unmatched, and a person decides. */
export async function recordReview(
  database: Database,
  target: { network: string; recipient: Address; payee: 'pay_to' | 'custody' },
  transfer: InboundTransfer,
  nowMs: number,
): Promise<void> {
  const { network, recipient } = target
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `insert into inbound_review (network, transaction, log_index, block_number, sender, recipient, amount_micro, seen_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [
        network,
        transfer.transaction,
        transfer.logIndex,
        transfer.blockNumber,
        transfer.sender,
        recipient,
        transfer.amountMicro,
        new Date(nowMs),
      ],
    )
    if (rowCount === 0 || transfer.amountMicro === 0n) return
    await post(tx, [
      {
        reference: `unmatched:${network}:${transfer.transaction}:${transfer.logIndex}`,
        kind: 'unmatched',
        lines: [
          { account: accounts.onchain(network, target.payee), amount: transfer.amountMicro },
          { account: accounts.unmatched(network), amount: -transfer.amountMicro },
        ],
      },
    ])
  })
}

/** What the books say is at the address, as of a block: postings of payments in later blocks do not count yet. */
export async function onchainBooks(
  sql: Sql,
  network: string,
  payee: 'pay_to' | 'custody',
  upToBlock: bigint,
): Promise<Micro> {
  const { rows } = await sql.query<{ micro: bigint }>(
    `select coalesce((select sum(e.amount_micro) from ledger_entry e join ledger_account a on a.id = e.account_id where a.name = $1), 0)::bigint
          - coalesce((select sum(amount_micro) from payment where network = $2 and payee = $3 and block_number > $4
                      and state in ('settled','served','credited','refunded')), 0)::bigint as micro`,
    [accounts.onchain(network, payee).name, network, payee, upToBlock],
  )
  return rows[0]?.micro ?? 0n
}
