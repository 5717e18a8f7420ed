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
  const method = methodNamed(deps.settings, series.method)
  const rules = await rulesOf(deps, tx, series, method)
  const index = await readIndexes(tx, [{ ...series, rules }])
  const value = index.valueOf(deps, { ...series, rules })
  if (value.status === 'wait') return undefined
  const document = await describe(tx, { series, value, method, rules })
  if (value.status === 'void') return { result: { outcome: 'void', reason: value.reason }, document }
  return {
    result: { outcome: 'fixed', valueE4: value.valueE4, payoffMicro: payoffOf(series, value.valueE4) },
    document,
  }
}

type ListedRules = { window_ms: bigint | null; agents_min: number | null; extensions_max: number | null }

async function rulesOf(deps: OptionDeps, sql: Sql, { symbol }: Series, method: IndexMethod): Promise<SettlementRules> {
  const { rows } = await sql.query<ListedRules>(
    `select window_ms, agents_min, extensions_max from option_series where symbol = $1`,
    [symbol],
  )
  return rulesFrom(deps, rows[0], method)
}

/** As they were when the series was listed: what is set later is for series listed later. */
function rulesFrom(
  { settings }: OptionDeps,
  listed: ListedRules | undefined,
  { tickMs }: IndexMethod,
): SettlementRules {
  return {
    windowMs: Number(listed?.window_ms ?? settings.windowMs),
    tickMs,
    agentsMin: listed?.agents_min ?? settings.agentsMin,
    extensionsMax: listed?.extensions_max ?? settings.extensionsMax,
  }
}

type Expired = ListedRules & Pick<Series, 'symbol' | 'cluster' | 'method' | 'state'> & { expires_at: Date }

/**
 * Expired series that have something to settle. Many wait at once, and for minutes, so what they wait for is read for all of
 * them together and without a lock.
 */
export async function seriesToSettle(deps: OptionDeps): Promise<string[]> {
  const { rows } = await deps.database.query<Expired>(
    `select symbol, cluster, method, state, expires_at, window_ms, agents_min, extensions_max from option_series
     where state <> 'ended' and expires_at <= $1 order by expires_at, symbol`,
    [new Date(deps.clock.nowMs())],
  )
  const expired = rows.map((row) => ({
    ...row,
    expiresAtMs: row.expires_at.getTime(),
    rules: rulesFrom(deps, row, methodNamed(deps.settings, row.method)),
  }))
  const undecided = expired.filter(({ state }) => state === 'trading')
  const index = undecided.length === 0 ? undefined : await readIndexes(deps.database, undecided)
  return expired
    .filter((one) => one.state !== 'trading' || index?.valueOf(deps, one).status !== 'wait')
    .map(({ symbol }) => symbol)
}

type Undecided = Pick<Series, 'cluster' | 'method' | 'expiresAtMs'> & { rules: SettlementRules }

/** What these series are settled by, as far as it is published. */
async function readIndexes(sql: Sql, series: readonly Undecided[]) {
  const methods = [...new Set(series.map(({ method }) => method))]
  const published = await publishedUpTo(sql, methods)
  const ticks = await readTicks(sql, methods, series)
  return {
    valueOf: ({ settings, clock }: OptionDeps, { method, cluster, expiresAtMs, rules }: Undecided): SettlementValue => {
      // An index that has stalled is not waited for.
      const known = Math.max(published.get(method) ?? 0, clock.nowMs() - settings.stallMs)
      return settlementValue(rules, ticks.get(`${method} ${cluster}`) ?? [], expiresAtMs, known)
    },
  }
}

async function readTicks(sql: Sql, methods: readonly string[], series: readonly Undecided[]) {
  const { rows } = await sql.query<{
    method: string
    cluster: string
    at: Date
    value_e4: bigint
    agents: number | null
  }>(
    `select method, cluster, at, value_e4, agents from option_tick
     where method = any($1) and cluster = any($2) and at > $3 and at <= $4 order by at`,
    [
      methods,
      [...new Set(series.map(({ cluster }) => cluster))],
      new Date(Math.min(...series.map(({ expiresAtMs, rules }) => expiresAtMs - rules.windowMs))),
      new Date(Math.max(...series.map(({ expiresAtMs, rules }) => expiresAtMs + rules.extensionsMax * rules.windowMs))),
    ],
  )
  const ticks = new Map<string, ValuedTick[]>()
  for (const { method, cluster, at, value_e4, agents } of rows) {
    const key = `${method} ${cluster}`
    const known = ticks.get(key) ?? []
    known.push({ atMs: at.getTime(), valueE4: value_e4, agents })
    ticks.set(key, known)
  }
  return ticks
}

async function publishedUpTo(sql: Sql, methods: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ method: string; at: Date | null }>(
    `select method, (select max(at) from option_tick_proof p where p.method = m.method) as at
     from unnest($1::text[]) m (method)`,
    [methods],
  )
  return new Map(rows.map(({ method, at }) => [method, at?.getTime() ?? 0]))
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
