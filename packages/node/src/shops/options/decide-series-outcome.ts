import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql, Tx } from '@assay/till/store/database'
import { type OptionDeps, settlementMethodName } from './deps.ts'
import { payoffOf } from './domain/contract-terms.ts'
import type { IndexMethod } from './domain/demand-index.ts'
import {
  type SettlementRules,
  type SettlementValue,
  settlementValue,
  type ValuedTick,
} from './domain/settlement-value.ts'
import { methodDocument, pointsText, readInputs } from './follow-index.ts'
import { methodNamed } from './index-method.ts'
import { lockSeries, type Series, writeEvents } from './series-store.ts'

/** What a series ended at. `payoffMicro` is of one contract. */
export type SeriesOutcome =
  | { outcome: 'fixed'; valueE4: bigint; payoffMicro: Micro }
  | { outcome: 'void'; reason: string }

/** Decides and signs what a series settles at, once; undefined while it cannot be decided yet. */
export async function decideSeriesOutcome(deps: OptionDeps, symbol: string): Promise<SeriesOutcome | undefined> {
  return deps.database.transaction(async (tx) => {
    const series = (await lockSeries(tx, [symbol])).get(symbol)
    if (!series || series.state === 'ended' || deps.clock.nowMs() < series.expiresAtMs) return undefined
    const known = await readSeriesOutcome(tx, symbol)
    if (known) return known
    const decided = await decide(deps, tx, series)
    if (!decided) return undefined
    const { result, document } = decided
    await tx.query(
      `insert into option_settlement (symbol, outcome, value_e4, payoff_micro, reason, document, jws, decided_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        symbol,
        result.outcome,
        result.outcome === 'fixed' ? result.valueE4 : null,
        result.outcome === 'fixed' ? result.payoffMicro : null,
        result.outcome === 'void' ? result.reason : null,
        JSON.stringify(document),
        deps.jws.sign(document),
        new Date(deps.clock.nowMs()),
      ],
    )
    await tx.query(`update option_series set state = 'settling' where symbol = $1`, [symbol])
    const kind = result.outcome === 'void' ? ('voided' as const) : ('fixed' as const)
    await writeEvents(tx, [{ symbol, kind, subject: symbol }], deps.clock.nowMs())
    return result
  })
}

async function readSeriesOutcome(sql: Sql, symbol: string): Promise<SeriesOutcome | undefined> {
  const { rows } = await sql.query<{
    outcome: 'fixed' | 'void'
    value_e4: bigint | null
    payoff_micro: Micro | null
    reason: string | null
  }>(`select outcome, value_e4, payoff_micro, reason from option_settlement where symbol = $1`, [symbol])
  const row = rows[0]
  if (!row) return undefined
  return row.outcome === 'void'
    ? { outcome: 'void', reason: row.reason ?? '' }
    : { outcome: 'fixed', valueE4: row.value_e4 ?? 0n, payoffMicro: row.payoff_micro ?? 0n }
}

async function decide(
  deps: OptionDeps,
  tx: Tx,
  series: Series,
): Promise<{ result: SeriesOutcome; document: { [key: string]: Json } } | undefined> {
  const { settings, clock } = deps
  const method = methodNamed(settings, series.method)
  const rules = await rulesOf(deps, tx, series, method)
  const fromMs = series.expiresAtMs - rules.windowMs
  const upToMs = series.expiresAtMs + rules.extensionsMax * rules.windowMs
  const ticks = await readTicks(tx, series, fromMs, upToMs)
  const published = await publishedUpTo(tx, series.method)
  const value = settlementValue(rules, ticks, series.expiresAtMs, Math.max(published, clock.nowMs() - settings.stallMs))
  if (value.status === 'wait') return undefined
  const document = await describe(tx, { series, value, method, rules })
  if (value.status === 'void') return { result: { outcome: 'void', reason: value.reason }, document }
  return {
    result: { outcome: 'fixed', valueE4: value.valueE4, payoffMicro: payoffOf(series, value.valueE4) },
    document,
  }
}

/** As they were when the series was listed: what is set later is for series listed later. */
async function rulesOf(
  { settings }: OptionDeps,
  sql: Sql,
  { symbol }: Series,
  { tickMs }: IndexMethod,
): Promise<SettlementRules> {
  const { rows } = await sql.query<{
    window_ms: bigint | null
    agents_min: number | null
    extensions_max: number | null
  }>(`select window_ms, agents_min, extensions_max from option_series where symbol = $1`, [symbol])
  const listed = rows[0]
  return {
    windowMs: Number(listed?.window_ms ?? settings.windowMs),
    tickMs,
    agentsMin: listed?.agents_min ?? settings.agentsMin,
    extensionsMax: listed?.extensions_max ?? settings.extensionsMax,
  }
}

async function readTicks(
  sql: Sql,
  { cluster, method }: Pick<Series, 'cluster' | 'method'>,
  afterMs: number,
  upToMs: number,
): Promise<ValuedTick[]> {
  const { rows } = await sql.query<{ at: Date; value_e4: bigint; agents: number | null }>(
    `select at, value_e4, agents from option_tick where method = $4 and cluster = $1 and at > $2 and at <= $3 order by at`,
    [cluster, new Date(afterMs), new Date(upToMs), method],
  )
  return rows.map(({ at, value_e4, agents }) => ({ atMs: at.getTime(), valueE4: value_e4, agents }))
}

async function publishedUpTo(sql: Sql, method: string): Promise<number> {
  const { rows } = await sql.query<{ at: Date | null }>(
    `select max(at) as at from option_tick_proof where method = $1`,
    [method],
  )
  return rows[0]?.at?.getTime() ?? 0
}

type Decided = {
  series: Series
  value: Exclude<SettlementValue, { status: 'wait' }>
  method: IndexMethod
  rules: SettlementRules
}

/** All that somebody needs, beside the public inputs, to come to the same figure. */
async function describe(tx: Tx, { series, value, method, rules }: Decided): Promise<{ [key: string]: Json }> {
  const toMs = value.status === 'fixed' ? value.toMs : series.expiresAtMs + rules.extensionsMax * rules.windowMs
  const inputsFromMs = series.expiresAtMs - rules.windowMs - method.lookback * method.tickMs
  const { rows } = await tx.query<{ base_share_e12: bigint; base_at: Date }>(
    `select base_share_e12, base_at from option_cluster where cluster = $1`,
    [series.cluster],
  )
  return {
    type: settlementMethodName,
    symbol: series.symbol,
    cluster: series.cluster,
    kind: series.kind,
    strike: series.strike,
    width: series.width,
    size_micro: series.sizeMicro.toString(),
    most_micro: series.capMicro.toString(),
    expires_at: toRfc3339(series.expiresAtMs),
    outcome: value.status,
    ...(value.status === 'fixed'
      ? {
          value: pointsText(value.valueE4),
          payoff_micro: payoffOf(series, value.valueE4).toString(),
          window_from: toRfc3339(value.fromMs),
          window_to: toRfc3339(value.toMs),
          ticks: value.ticks,
        }
      : { reason: value.reason }),
    extensions: value.extensions,
    index: methodDocument(method),
    base_share_e12: (rows[0]?.base_share_e12 ?? 0n).toString(),
    base_at: toRfc3339(rows[0]?.base_at.getTime() ?? 0),
    rules: {
      window_ms: rules.windowMs,
      agents_min: rules.agentsMin,
      extensions_max: rules.extensionsMax,
      value: 'lower median of the counted ticks',
      payoff: 'rounded down to the micro-USDC',
    },
    inputs_after: toRfc3339(inputsFromMs),
    inputs_up_to: toRfc3339(toMs),
    inputs_sha256: await inputsDigest(tx, inputsFromMs, toMs),
    ...(series.synthetic ? { synthetic: true } : {}),
  }
}

/** Over the canonical JSON of `[[starts_at, ends_at, cluster, bonded], …]` in the order of the inputs. */
export async function inputsDigest(sql: Sql, afterMs: number, upToMs: number): Promise<string> {
  const inputs = await readInputs(sql, afterMs, upToMs)
  const rows = inputs.map(
    ({ startsAtMs, endsAtMs, cluster, bonded }): Json => [toRfc3339(startsAtMs), toRfc3339(endsAtMs), cluster, bonded],
  )
  return sha256(canonicalJson(rows)).toString('hex')
}
