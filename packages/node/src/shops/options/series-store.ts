import type { Micro } from '@assay/protocol/money'
import type { Sql } from '@assay/till/store/database'
import type { OptionKind } from './domain/black76.ts'
import type { ContractTerms } from './domain/contract-terms.ts'

export type SeriesState = 'trading' | 'settling' | 'ended'

export type Series = ContractTerms & {
  symbol: string
  cluster: string
  capMicro: Micro
  listedAtMs: number
  lastTradeAtMs: number
  expiresAtMs: number
  state: SeriesState
  seq: bigint
  sold: number
  interestLimitMicro: Micro
  volatility: number
  modelMicro: Micro | null
  pricedAtMs: number
  /** The tick that the last pricing went by; undefined before the first one. */
  pricedTick: { atMs: number; valueE4: bigint } | undefined
  synthetic: boolean
  /** Method of the index on which it was listed. */
  method: string
}

export const seriesColumns = `symbol, cluster, kind, strike, width, size_micro, cap_micro, listed_at, last_trade_at, expires_at, state,
  seq, sold, interest_limit_micro, volatility, model_micro, priced_at, priced_tick_at, priced_index_e4, synthetic, method`

type Row = {
  symbol: string
  cluster: string
  kind: OptionKind
  strike: number
  width: number
  size_micro: Micro
  cap_micro: Micro
  listed_at: Date
  last_trade_at: Date
  expires_at: Date
  state: SeriesState
  seq: bigint
  sold: number
  interest_limit_micro: Micro
  volatility: number
  model_micro: Micro | null
  priced_at: Date
  priced_tick_at: Date | null
  priced_index_e4: bigint | null
  synthetic: boolean
  method: string
}

export function toSeries(row: Row): Series {
  return {
    symbol: row.symbol,
    cluster: row.cluster,
    kind: row.kind,
    strike: row.strike,
    width: row.width,
    sizeMicro: row.size_micro,
    capMicro: row.cap_micro,
    listedAtMs: row.listed_at.getTime(),
    lastTradeAtMs: row.last_trade_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    state: row.state,
    seq: row.seq,
    sold: row.sold,
    interestLimitMicro: row.interest_limit_micro,
    volatility: row.volatility,
    modelMicro: row.model_micro,
    pricedAtMs: row.priced_at.getTime(),
    pricedTick:
      row.priced_tick_at && row.priced_index_e4 !== null
        ? { atMs: row.priced_tick_at.getTime(), valueE4: row.priced_index_e4 }
        : undefined,
    synthetic: row.synthetic,
    method: row.method,
  }
}

export async function findSeries(sql: Sql, symbol: string): Promise<Series | undefined> {
  const { rows } = await sql.query<Row>(`select ${seriesColumns} from option_series where symbol = $1`, [symbol])
  return rows[0] && toSeries(rows[0])
}

/** Every change of a book goes through this lock: at any moment one writer, whichever process it is in. */
export async function lockSeries(tx: Sql, symbols: readonly string[]): Promise<Map<string, Series>> {
  const { rows } = await tx.query<Row>({
    name: 'option-lock-series',
    text: `select ${seriesColumns} from option_series where symbol = any($1) order by symbol for update`,
    values: [[...new Set(symbols)]],
  })
  return new Map(rows.map((row) => [row.symbol, toSeries(row)]))
}

export async function openSeries(sql: Sql): Promise<Series[]> {
  const { rows } = await sql.query<Row>(
    `select ${seriesColumns} from option_series where state <> 'ended' order by expires_at, symbol`,
  )
  return rows.map(toSeries)
}

/** A late clock tick is late: at the very moment of the end nothing is sold any more. */
export function isTraded(series: Pick<Series, 'state' | 'lastTradeAtMs'>, nowMs: number): boolean {
  return series.state === 'trading' && nowMs < series.lastTradeAtMs
}

export type OptionEvent = {
  symbol: string
  kind:
    | 'listed'
    | 'offered'
    | 'bid'
    | 'reserved'
    | 'released'
    | 'sold'
    | 'asked'
    | 'closed'
    | 'withdrawn'
    | 'revoked'
    | 'fixed'
    | 'voided'
    | 'settled'
    | 'ended'
  subject: string
  quantity?: number
  priceMicro?: Micro
}

export async function writeEvents(tx: Sql, events: readonly OptionEvent[], nowMs: number): Promise<void> {
  if (events.length === 0) return
  await tx.query({
    name: 'option-write-events',
    text: `insert into option_event (symbol, at, kind, subject, quantity, price_micro)
      select symbol, $6, kind, subject, quantity, price from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bigint[])
        e (symbol, kind, subject, quantity, price)`,
    values: [
      events.map(({ symbol }) => symbol),
      events.map(({ kind }) => kind),
      events.map(({ subject }) => subject),
      events.map(({ quantity }) => quantity ?? null),
      events.map(({ priceMicro }) => priceMicro ?? null),
      new Date(nowMs),
    ],
  })
}
