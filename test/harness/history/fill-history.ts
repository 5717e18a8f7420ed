import type pg from 'pg'
import { accounts } from '../../../packages/till/src/ledger/index.ts'
import { connectClient } from '../../../packages/till/src/store/connection.ts'
import { copyRows } from './copy-rows.ts'
import { type Past, routeId, saleMicro, shareMicro, tablesOf, walletTables } from './history-rows.ts'

const dayMs = 86_400_000
/** Rows of one COPY: a batch is written table by table, so that each stays in memory while it is. */
const batchMax = 200_000

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
  const { databaseUrl, sales, wallets, days = 365, nowMs, say } = options
  const written = options.written ?? { sales: 0, wallets: 0 }
  const client = await connectClient({ url: databaseUrl }, { statement_timeout: 0, synchronous_commit: 'off' })
  try {
    for (let day = days; day >= 0; day -= 7)
      await client.query('select make_partitions($1)', [new Date(nowMs - day * dayMs)])
    await client.query('set session_replication_role = replica')
    const common = { wallets, network: options.network, payTo: options.payTo, heavy: options.heavy }
    const span = { fromMs: nowMs - days * dayMs, untilMs: nowMs - 3_600_000, answersFromMs: nowMs - dayMs }
    const total = sales - written.sales
    const timeOf = timesOf(span, days, total, options.turn)
    const past = { first: 0, sales: 0, ...common, ...span, timeOf, accountIds: await accountIds(client, options) }
    for (const [target, rows] of walletTables(past, written.wallets, wallets)) await copyRows(client, target, rows)
    // Leaves are changed once when they get their places: the room that leaves behind is used by the next batch.
    const batch = Math.min(batchMax, Math.ceil(total / 10))
    for (let done = 0; done < total; done += batch) {
      const count = Math.min(batch, total - done)
      const part = {
        ...past,
        first: written.sales + done,
        sales: count,
        timeOf: (place: number) => timeOf(done + place),
      }
      for (const [target, rows] of tablesOf(part)) await copyRows(client, target, rows)
      await settle(client, options)
      say?.(`  ${(done + count).toLocaleString('en-US')} sales written`)
    }
    await closeBooks(client, past, written.sales, total)
    await settle(client, options)
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

/** Rows that were changed on the way leave no room behind, as on a server with autovacuum. */
async function settle(client: pg.Client, { settle: run }: FillOptions): Promise<void> {
  if (!run) return
  await run()
  await client.query('vacuum ledger_unsealed, log_entry, log_tile, books_rollup_account, books_rollup_group, log_tree')
}

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
