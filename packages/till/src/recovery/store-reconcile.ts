import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { type Network, usdcOf } from '../chain/index.ts'
import { fromHex, sha256 } from '../kernel/bytes.ts'
import { accounts, post, takeTransfer } from '../ledger/index.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import type { ReconciledAddress } from './reconcile.ts'
import type { RecordedStep } from './record-transfers.ts'

export type Cursor = { network: string; address: Address; blockNumber: bigint }

export async function readCursor(sql: Sql, network: string, address: Address): Promise<Cursor | undefined> {
  const { rows } = await sql.query<{ block_number: bigint }>(
    `select block_number from reconcile_cursor where network = $1 and address = $2`,
    [network, address],
  )
  const row = rows[0]
  return row && { network, address, blockNumber: row.block_number }
}

/**
 * Writes the rows of a step and moves the cursor, in one transaction. False when another process has moved the cursor.
 */
export async function advanceCursor(
  database: Database,
  { network, address, blockNumber }: Cursor,
  target: ReconciledAddress,
  step: RecordedStep,
  nowMs: number,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update reconcile_cursor set block_number = $4, checked_at = $5
       where network = $1 and address = $2 and block_number = $3`,
      [network, address, blockNumber, step.toBlock, new Date(nowMs)],
    )
    if (rowCount === 0) return false
    await insertTransfers(tx, network, target, step, nowMs)
    if (step.dust.micro > 0n) await postDust(tx, target, { fromBlock: blockNumber + 1n, ...step }, nowMs)
    return true
  })
}

async function insertTransfers(
  tx: Tx,
  network: string,
  { chain }: ReconciledAddress,
  { transfers }: RecordedStep,
  nowMs: number,
): Promise<void> {
  if (transfers.length === 0) return
  await tx.query(
    `insert into transfer as t (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number,
       block_hash, final, seen_at, try_at)
     select $1, $2, n.transaction, n.position, n.sender, n.recipient, n.amount, n.payment_key, n.block_number, n.block_hash, true, $11, $11
     from unnest($3::bytea[], $4::integer[], $5::text[], $6::text[], $7::bigint[], $8::bytea[], $9::bigint[], $10::bytea[])
       n (transaction, position, sender, recipient, amount, payment_key, block_number, block_hash)
     order by n.transaction, n.position
     on conflict (network, transaction, position) do update
       set final = true, block_number = excluded.block_number, block_hash = excluded.block_hash`,
    [
      network,
      usdcOf(chain.network),
      transfers.map(({ transaction }) => fromHex(transaction)),
      transfers.map(({ position }) => position),
      transfers.map(({ sender }) => sender),
      transfers.map(({ recipient }) => recipient),
      transfers.map(({ amountMicro }) => amountMicro),
      transfers.map(({ paymentKey }) => (paymentKey === undefined ? null : fromHex(paymentKey))),
      transfers.map(({ blockNumber }) => blockNumber),
      transfers.map(({ blockHash }) => fromHex(blockHash)),
      new Date(nowMs),
    ],
  )
}

/** One row and one posting for all of it: no claim is for an amount this small. */
async function postDust(
  tx: Tx,
  { chain, address, payee }: ReconciledAddress,
  { fromBlock, toBlock, dust }: RecordedStep & { fromBlock: bigint },
  nowMs: number,
): Promise<void> {
  const network = chain.network.caip2
  const reference = `dust:${network}:${address}:${fromBlock}-${toBlock}`
  const transfer = await takeTransfer(
    tx,
    {
      network,
      asset: usdcOf(chain.network),
      // No transaction has this hash: they are too many to name.
      transaction: toHex(sha256(reference)),
      position: 0,
      sender: `0x${'0'.repeat(40)}`,
      recipient: address,
      amountMicro: dust.micro,
      paymentKey: undefined,
      blockNumber: toBlock,
      blockHash: `0x${'0'.repeat(64)}`,
    },
    { as: 'dust', for: String(dust.count) },
    nowMs,
  )
  if (!transfer) return
  await tx.query('update transfer set final = true where id = $1', [transfer.id])
  await post(tx, [
    {
      reference,
      kind: 'dust',
      transfer,
      lines: [
        { account: accounts.onchain(network, payee), amount: dust.micro },
        { account: accounts.unmatched(network, payee), amount: -dust.micro },
      ],
    },
  ])
}

/** Which of these transactions have a row already, such as that of a sale. */
export async function recordedTransactions(
  sql: Sql,
  { caip2 }: Network,
  transactions: readonly Hex[],
): Promise<Set<Hex>> {
  if (transactions.length === 0) return new Set()
  const { rows } = await sql.query<{ transaction: Hex }>(
    `select distinct '0x' || encode(transaction, 'hex') as transaction from transfer
     where network = $1 and transaction = any($2::bytea[])`,
    [caip2, transactions.map(fromHex)],
  )
  return new Set(rows.map(({ transaction }) => transaction))
}

/** The opening balance and the cursor that starts after it, in one transaction. */
export async function openCursor(
  database: Database,
  opening: Cursor & { payee: 'pay_to' | 'custody'; onchainMicro: Micro },
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

/**
 * What the books say is at the addresses of one payee in final blocks: the ledger, less what it has from transfers that
 * are not recorded as final yet, and with what is recorded and not posted yet. Money that left and that nothing explains
 * is left out, so it shows as missing.
 */
export async function expectedOnChain(
  sql: Sql,
  network: string,
  payee: 'pay_to' | 'custody',
  addresses: readonly Address[],
): Promise<Micro> {
  const { rows } = await sql.query<{ micro: bigint }>(
    `with open as (
       select (case when recipient = any($3) then amount_micro else 0 end) - (case when sender = any($3) then amount_micro else 0 end) as micro,
         posted_as is not null as posted
       from (select * from transfer where network = $2 and not final and posted_as is not null
         union all select * from transfer where network = $2 and final and posted_as is null and not missing) t
       where sender = any($3) or recipient = any($3))
     select (coalesce((select ledger_sum(a.id) from ledger_account a where a.name = $1), 0)
       + coalesce((select sum(case when posted then -micro else micro end) from open), 0))::bigint as micro`,
    [accounts.onchain(network, payee).name, network, addresses],
  )
  return rows[0]?.micro ?? 0n
}
