import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Column, ColumnName, HaltEvent } from '../as-of/as-of-view.ts'
import { ratio } from '../score/factors.ts'
import { fieldNames } from '../sources/vendor-fields.ts'
import { trendText } from './composite-rows.ts'
import type { FeedId } from './feed.ts'
import { numberText } from './provenance.ts'
import type { BuildInput, RowPlan } from './row-plan.ts'

/** One shown column: its values and the columns it is derived from. */
type Shown = {
  name: string
  values: Float64Array
  from: readonly ColumnName[]
  vip?: boolean
  flag?: boolean
  decimals?: number
}

type ScoringRules = {
  /** Which symbols have a row: those with a value in any of these. */
  rows: readonly ColumnName[]
  rankBy: string
  /** Second criterion, for symbols whose first is unknown. */
  thenBy?: string
  above?: number
  shown(get: (name: ColumnName) => Float64Array | undefined, size: number): (Shown | undefined)[]
  trend?: boolean
}

const plain = (
  name: string,
  values: Float64Array | undefined,
  from: readonly ColumnName[],
  rest: Partial<Shown> = {},
) => values && { name, values, from, ...rest }

const per = (above: Float64Array | undefined, below: Float64Array | undefined, scale: number) =>
  above && below && ratio(above, below, scale)

const whole = { vip: true, decimals: 0 }

export const recipes: Partial<Record<FeedId, ScoringRules>> = {
  'short-volume': {
    rows: ['short_volume'],
    rankBy: 'z',
    thenBy: 'ratio',
    trend: true,
    shown: (get) => [
      plain('short_volume', get('short_volume'), ['short_volume']),
      plain('total_volume', get('total_volume'), ['total_volume']),
      plain('ratio', get('short_ratio'), ['short_ratio']),
      plain('z', get('short_ratio_z'), ['short_ratio_z']),
      plain('exempt_volume', get('exempt_volume'), ['exempt_volume'], { vip: true }),
      plain('ratio_mean', get('short_ratio_mean'), ['short_ratio_mean'], { vip: true }),
      plain('ratio_sd', get('short_ratio_sd'), ['short_ratio_sd'], { vip: true }),
    ],
  },
  'short-interest': {
    rows: ['short_interest'],
    rankBy: 'short_interest_to_shares',
    thenBy: 'short_interest',
    shown: (get) => [
      plain('short_interest', get('short_interest'), ['short_interest']),
      plain('short_interest_to_shares', per(get('short_interest'), get('shares_outstanding'), 100), [
        'short_interest',
        'shares_outstanding',
      ]),
      plain('days_to_cover', get('days_to_cover'), ['days_to_cover']),
      plain('change_pct', get('short_interest_change_pct'), ['short_interest_change_pct']),
      plain('short_interest_estimate', get('short_interest_estimate'), ['short_interest_estimate'], whole),
      plain('short_interest_low', get('short_interest_low'), ['short_interest_low'], whole),
      plain('short_interest_high', get('short_interest_high'), ['short_interest_high'], whole),
      plain('previous_short_interest', get('previous_short_interest'), ['previous_short_interest'], { vip: true }),
      plain('average_volume', get('average_volume'), ['average_volume'], { vip: true }),
      plain('shares_outstanding', get('shares_outstanding'), ['shares_outstanding'], { vip: true }),
      plain('public_float_usd', get('public_float_usd'), ['public_float_usd'], whole),
    ],
  },
  ftd: {
    rows: ['fails'],
    rankBy: 'fails_to_shares',
    thenBy: 'fails',
    above: 0,
    shown: (get) => [
      plain('fails', get('fails'), ['fails']),
      plain('fails_to_shares', per(get('fails'), get('shares_outstanding'), 100), ['fails', 'shares_outstanding']),
      plain('fails_value_usd', product(get('fails'), get('fails_price')), ['fails'], { decimals: 2 }),
      plain(
        'threshold_level',
        thresholdLevel(get('fails'), get('shares_outstanding')),
        ['fails', 'shares_outstanding'],
        { vip: true },
      ),
      plain('shares_outstanding', get('shares_outstanding'), ['shares_outstanding'], { vip: true }),
    ],
  },
  threshold: {
    rows: ['threshold_days'],
    rankBy: 'days_on_list',
    shown: (get) => [
      plain('days_on_list', get('threshold_days'), ['threshold_days']),
      plain('entered', get('threshold_entered'), ['threshold_entered'], { flag: true }),
      plain('fails', get('fails'), ['fails'], { vip: true }),
      plain('short_interest', get('short_interest'), ['short_interest'], { vip: true }),
    ],
  },
  borrow: {
    rows: ['borrow_fee_pct', ...fieldNames],
    rankBy: 'fee_pct',
    thenBy: 'lending_fee_pct',
    shown: (get) => [
      plain('fee_pct', get('borrow_fee_pct'), ['borrow_fee_pct']),
      plain('available', get('borrow_available'), ['borrow_available']),
      plain('utilisation_pct', get('utilisation_pct'), ['utilisation_pct']),
      plain('lending_fee_pct', get('lending_fee_pct'), ['lending_fee_pct']),
      plain('rebate_pct', get('borrow_rebate_pct'), ['borrow_rebate_pct'], { vip: true }),
      plain('available_capped', get('borrow_available_capped'), ['borrow_available_capped'], { vip: true, flag: true }),
      plain('implied_volatility_30d_pct', get('implied_volatility_30d_pct'), ['implied_volatility_30d_pct'], {
        vip: true,
      }),
      plain('put_call_open_interest', get('put_call_open_interest'), ['put_call_open_interest'], { vip: true }),
    ],
  },
  institutional: {
    rows: ['held_shares'],
    rankBy: 'held_to_shares',
    thenBy: 'held_shares',
    shown: (get) => [
      plain('holders', get('holders'), ['holders']),
      plain('held_shares', get('held_shares'), ['held_shares']),
      plain('held_to_shares', per(get('held_shares'), get('shares_outstanding'), 100), [
        'held_shares',
        'shares_outstanding',
      ]),
      plain('held_value_usd', get('held_value_usd'), ['held_value_usd'], { vip: true }),
      plain('shares_outstanding', get('shares_outstanding'), ['shares_outstanding'], { vip: true }),
    ],
  },
}

function product(a: Float64Array | undefined, b: Float64Array | undefined): Float64Array | undefined {
  return a && b && a.map((value, index) => value * (b[index] as number))
}

/** The rule names a security that keeps 10,000 shares and 0.5 % of those outstanding undelivered for five days. */
function thresholdLevel(fails: Float64Array | undefined, shares: Float64Array | undefined): Float64Array | undefined {
  return fails && shares && fails.map((value, index) => value / Math.max(10_000, (shares[index] as number) * 0.005))
}

export function planSimple(input: BuildInput, recipe: ScoringRules): RowPlan {
  const { columns, view, provenance } = input
  const get = (name: ColumnName) => columns[name]?.values
  const shown = recipe.shown(get, view.symbols.length).filter((one): one is Shown => one !== undefined)
  const bases = recipe.rows.flatMap((name) => get(name) ?? [])
  const rank = shown.find(({ name }) => name === recipe.rankBy)?.values
  const second = shown.find(({ name }) => name === recipe.thenBy)?.values
  const order = rowOrder(view.symbols.length, bases, rank, second, recipe.above)
  const parts = (vip: boolean) =>
    shown
      .filter((one) => (one.vip ?? false) === vip)
      .map((one) => ({ ...one, behind: one.from.map((name) => columns[name] as Column) }))
  const [liveParts, vipParts] = [parts(false), parts(true)]
  const cells = (symbol: number, wanted: ReturnType<typeof parts>) => {
    let text = ''
    for (const { name, values, behind, flag, decimals } of wanted) {
      const value = values[symbol] as number
      text += `${text === '' ? '' : ','}"${name}":`
      if (Number.isNaN(value)) text += 'null'
      else
        text += `{"value":${flag ? String(value === 1) : numberText(value, decimals)}${provenance.tail(behind, symbol)}`
    }
    return text
  }
  const known = rank ? order.filter((symbol) => !Number.isNaN(rank[symbol] as number)).length : 0
  return {
    count: order.length,
    symbolOf: (row) => order[row] as number,
    valueOf: (row) => (rank?.[order[row] as number] as number | undefined) ?? Number.NaN,
    live: (row) =>
      `"values":{${cells(order[row] as number, liveParts)}}${recipe.trend ? trendText(input, order[row] as number) : ''}`,
    vip: (row) => `"details":{${cells(order[row] as number, vipParts)}}`,
    excluded: new Map(),
    coveragePct: order.length === 0 ? 0 : (known / order.length) * 100,
  }
}

function rowOrder(
  size: number,
  bases: readonly Float64Array[],
  rank: Float64Array | undefined,
  second: Float64Array | undefined,
  above = -1,
): number[] {
  const order: number[] = []
  for (let i = 0; i < size; i += 1) if (bases.some((base) => (base[i] as number) > above)) order.push(i)
  // Unknown sorts below every known value, however low.
  const key = (values: Float64Array | undefined, symbol: number) => {
    const value = values?.[symbol]
    return value === undefined || Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value
  }
  return order.sort((a, b) => down(key(rank, a), key(rank, b)) || down(key(second, a), key(second, b)) || a - b)
}

const down = (a: number, b: number) => (a === b ? 0 : b > a ? 1 : -1)

/** Halts are events: a symbol may have several, newest first. */
export function planHalts(input: BuildInput): RowPlan {
  const events = input.view.halts.filter((halt) => input.mayUse(halt.origin))
  const at = (row: number) => events[row] as HaltEvent
  const time = (ms: number | null) => (ms === null ? 'null' : `"${toRfc3339(ms)}"`)
  const cell = (text: string, row: number) =>
    text === 'null' ? text : `{"value":${text}${input.provenance.tailOfOrigin(at(row).origin)}`
  return {
    count: events.length,
    symbolOf: (row) => at(row).symbol,
    valueOf: () => Number.NaN,
    live: (row) =>
      `"values":{"halted_at":${cell(time(at(row).haltedAtMs), row)},"reason":${cell(JSON.stringify(at(row).reason), row)},"resumed_at":${cell(time(at(row).tradeAtMs), row)}}`,
    vip: (row) =>
      `"details":{"market":${cell(JSON.stringify(at(row).market), row)},"quoted_at":${cell(time(at(row).quoteAtMs), row)},"pause_price":${cell(at(row).pausePrice === null ? 'null' : numberText(at(row).pausePrice as number), row)}}`,
    excluded: new Map(),
    coveragePct: 100,
  }
}
