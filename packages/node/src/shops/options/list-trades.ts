import type { Micro } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { pointsText } from './follow-index.ts'
import { optionProblems } from './problems.ts'
import { findSeries } from './series-store.ts'

const kinds = { sold: 'sale', closed: 'close', revoked: 'revoked' } as const

type Row = {
  id: bigint
  symbol: string
  at: Date
  kind: keyof typeof kinds
  subject: string
  quantity: number
  price_micro: Micro | null
}

const tradesSql = `select id, symbol, at, kind, subject, quantity, price_micro from option_event
  where kind in ('sold', 'closed', 'revoked') and subject like 'opt\\_%' and ($1::text is null or symbol = $1)`

const shownTrade = (row: Row) => ({
  trade_id: row.id.toString(),
  at: toRfc3339(row.at.getTime()),
  symbol: row.symbol,
  kind: kinds[row.kind],
  position_id: row.subject,
  quantity: row.quantity,
  total_micro: row.price_micro?.toString() ?? null,
})

/** Every trade of the exchange or of one series, newest first. */
export async function listTrades(sql: Sql, page: { symbol?: string; limit: number; before?: bigint }) {
  const { rows } = await sql.query<Row>(`${tradesSql} and ($2::bigint is null or id < $2) order by id desc limit $3`, [
    page.symbol ?? null,
    page.before ?? null,
    page.limit + 1,
  ])
  const shown = rows.slice(0, page.limit)
  return {
    data: shown.map(shownTrade),
    next_cursor: rows.length > shown.length ? (shown.at(-1)?.id.toString() ?? null) : null,
  }
}

const perPollMax = 500

/** Later trades, oldest first. */
export async function tradesAfter(
  sql: Sql,
  { symbol, after, without }: { symbol?: string | undefined; after: bigint; without: readonly bigint[] },
) {
  const { rows } = await sql.query<Row>(`${tradesSql} and id > $2 and id <> all($3::bigint[]) order by id limit $4`, [
    symbol ?? null,
    after,
    without,
    perPollMax,
  ])
  return rows.map(shownTrade)
}

export async function newestTrade(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ id: bigint | null }>('select max(id) as id from option_event')
  return rows[0]?.id ?? 0n
}

/** Volume and open interest of a series, a row for each day (UTC) on which something happened. */
export async function listDays(sql: Sql, symbol: string) {
  if (!(await findSeries(sql, symbol))) throw new Problem(optionProblems.series_unknown)
  const { rows } = await sql.query<{ day: string; contracts: bigint; premium: Micro; closed: bigint; open: bigint }>(
    `with days as (
       select to_char(at at time zone 'utc', 'YYYY-MM-DD') as day,
         coalesce(sum(quantity) filter (where kind = 'sold'), 0) as contracts,
         coalesce(sum(price_micro) filter (where kind = 'sold'), 0) as premium,
         coalesce(sum(quantity) filter (where kind = 'closed'), 0) as closed,
         coalesce(sum(case when kind = 'sold' then quantity else -quantity end), 0) as change
       from option_event where symbol = $1 and kind in ('sold', 'closed', 'revoked', 'settled') and subject like 'opt\\_%'
       group by 1)
     select day, contracts::bigint, premium::bigint, closed::bigint, (sum(change) over (order by day))::bigint as open
     from days order by day`,
    [symbol],
  )
  const { rows: ends } = await sql.query<{ outcome: 'fixed' | 'void'; value_e4: bigint | null; decided_at: Date }>(
    `select outcome, value_e4, decided_at from option_settlement where symbol = $1`,
    [symbol],
  )
  const [end] = ends
  return {
    symbol,
    days: rows.map(({ day, contracts, premium, closed, open }) => ({
      day,
      contracts: Number(contracts),
      premium_micro: premium.toString(),
      closed: Number(closed),
      open_interest: Number(open),
    })),
    settlement: end
      ? {
          outcome: end.outcome,
          value: end.value_e4 === null ? null : pointsText(end.value_e4),
          at: toRfc3339(end.decided_at.getTime()),
        }
      : null,
  }
}
