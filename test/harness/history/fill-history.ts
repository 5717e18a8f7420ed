import type pg from 'pg'
import { accounts } from '../../../packages/till/src/ledger/index.ts'
import { connectClient } from '../../../packages/till/src/store/connection.ts'
import { copyRows } from './copy-rows.ts'
import { attester, type Past, routeId, saleMicro, shareMicro, tablesOf, walletTables } from './history-rows.ts'
import { withoutIndexes } from './without-indexes.ts'

const dayMs = 86_400_000
/** Rows of one COPY: a batch is written table by table, so that each stays in memory while it is. */
const batchMax = 100_000

export type FillOptions = {
  databaseUrl: string
  heavy: string
  payTo: string
  network: string
  /** Up to how many sales and wallets there shall be; what an earlier call wrote stays. */
  sales: number
  wallets: number
  /** Written by earlier calls. */
  written?: { sales: number; wallets: number }
  /** Days that the sales are spread over, up to an hour ago. */
  days?: number
  /** Which part of each day they are in: several calls then leave no rows between those of another, as time would not either. */
  turn?: { place: number; of: number }
  nowMs: number
  say?(text: string): void
  /** What the node's own jobs make of the sales: seals of the postings and places of the leaves. Running nodes do so by themselves. */
  settle?(): Promise<void>
}

/**
 * A past in the shape that sales leave behind, written through COPY: claim, payment, transfer, five postings, reward, and for
 * every second sale a stamped citation with its leaf of the log and a creator's share. Answers are those of the last day. All of it
 * is final and over, and the books come to what they were before.
 */
export async function fillHistory(options: FillOptions): Promise<void> {
  const { databaseUrl, sales, wallets, days = 365, nowMs } = options
  const written = options.written ?? { sales: 0, wallets: 0 }
  const client = await connectClient(
    { url: databaseUrl },
    { statement_timeout: 0, synchronous_commit: 'off', maintenance_work_mem: '1GB' },
  )
  try {
    for (let day = days; day >= 0; day -= 7)
      await client.query('select make_partitions($1)', [new Date(nowMs - day * dayMs)])
    await client.query('set session_replication_role = replica')
    const common = { wallets, network: options.network, payTo: options.payTo, heavy: options.heavy }
    const span = { fromMs: nowMs - days * dayMs, untilMs: nowMs - 3_600_000, answersFromMs: nowMs - dayMs }
    const total = sales - written.sales
    const timeOf = timesOf(span, days, total, options.turn)
    const past = { first: 0, sales: 0, ...common, ...span, timeOf, accountIds: await accountIds(client, options) }
    await client.query(insertAttesterSql, [Buffer.from(attester, 'hex')])
    for (const [target, rows] of walletTables(past, written.wallets, wallets)) await copyRows(client, target, rows)
    await withoutIndexes(client, () => writeSales(client, options, { ...past, first: written.sales, sales: total }))
    await closeBooks(client, past, written.sales, total)
    await options.settle?.()
    await vacuum(client)
    await passBy(client, new Date(span.fromMs), new Date(span.untilMs))
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

/** At even distances within that part of each day. */
function timesOf(
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
  days: number,
  total: number,
  { place: turn, of } = { place: 0, of: 1 },
) {
  const dayLength = (untilMs - fromMs) / days
  return (place: number) => {
    const at = (place * days) / total
    return fromMs + (Math.floor(at) + (turn + (at % 1)) / of) * dayLength
  }
}

/** The node's jobs settle a batch while the next one is written, over other connections. */
async function writeSales(client: pg.Client, { settle, say }: FillOptions, past: Past): Promise<void> {
  // Leaves are changed once when they get their places: the room that leaves behind is used by later batches.
  const batch = Math.min(batchMax, Math.ceil(past.sales / 20))
  let settled: Promise<void> | undefined
  for (let done = 0; done < past.sales; done += batch) {
    const sales = Math.min(batch, past.sales - done)
    const part = { ...past, first: past.first + done, sales, timeOf: (place: number) => past.timeOf(done + place) }
    for (const [target, rows] of tablesOf(part)) await copyRows(client, target, rows)
    await settled
    await vacuum(client)
    settled = settle?.()
    say?.(`  ${(done + sales).toLocaleString('en-US')} sales written`)
  }
  await settled
}

/** Rows that were changed on the way leave no room behind, as on a server with autovacuum. */
const vacuum = (client: pg.Client) =>
  client.query('vacuum ledger_unsealed, log_entry, log_tile, books_rollup_account, books_rollup_group, log_tree')

const insertAttesterSql = `insert into citation_attester (statement_sha256, statement, signer, chain_id, key_id, public_key)
  values ($1, '', '', 8453, '', '') on conflict do nothing`

/** What follows payments is past these: their sums are in the rows of their wallets. */
async function passBy(client: pg.Client, from: Date, until: Date): Promise<void> {
  await client.query('update rating_cursor set payment_at = greatest(payment_at, $1)', [until])
  await client.query(`update payment_count_head set until_payment = greatest(until_payment, first_id_at('pay', $1))`, [
    until,
  ])
  // Heads are as old as what they are over.
  await client.query(
    `update log_checkpoint c set signed_at = $1::timestamptz + ($2::timestamptz - $1::timestamptz) * (c.size::float8 / t.size) from log_tree t`,
    [from, until],
  )
}

async function accountIds(client: pg.Client, { network }: FillOptions): Promise<Past['accountIds']> {
  const opened = [
    accounts.onchain(network, 'pay_to'),
    accounts.onchain(network, 'custody'),
    accounts.revenue(network, routeId),
  ]
  const ids: bigint[] = []
  for (const { name, kind, unit, guarded } of opened) {
    const insert =
      'insert into ledger_account (name, kind, unit, guarded) values ($1, $2, $3, $4) on conflict do nothing'
    await client.query(insert, [name, kind, unit, guarded])
    const { rows } = await client.query<{ id: bigint }>('select id from ledger_account where name = $1', [name])
    ids.push(rows[0]?.id as bigint)
  }
  const [payTo = 0n, custody = 0n, revenue = 0n] = ids
  return { payTo, custody, revenue }
}

/** One posting takes what the sales added off again: no chain has that money. */
async function closeBooks(
  client: pg.Client,
  { accountIds, untilMs }: Past,
  first: number,
  sales: number,
): Promise<void> {
  if (sales === 0) return
  const id = (BigInt(Math.floor(untilMs / 1_000)) << 31n) | BigInt(first + sales)
  const at = new Date(untilMs)
  await client.query(
    `insert into ledger_transaction (id, reference, kind, created_at, xid) values ($1, $3, 'opening', $2, '3')`,
    [id, at, `closing:${id}`],
  )
  await client.query('insert into ledger_unsealed values ($1)', [id])
  const count = BigInt(sales)
  await client.query(
    `insert into ledger_entry (transaction_id, line, account_id, amount_micro)
     select $1, line - 1, account, micro from unnest($2::bigint[], $3::bigint[]) with ordinality l (account, micro, line)`,
    [
      id,
      [accountIds.payTo, accountIds.custody, accountIds.revenue],
      [-count * BigInt(saleMicro), count * BigInt(shareMicro), count * BigInt(saleMicro - shareMicro)],
    ],
  )
}
