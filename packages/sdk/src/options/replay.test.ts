import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { OptionSeriesDetail } from './options.ts'
import { type OptionSettlement, replaySettlement } from './replay.ts'
import type { OptionInput } from './replay-index.ts'
import { replayPrice } from './replay-price.ts'

// A second implementation, written from docs/options.md: what it settles and prices, the replay must find right.

const tick = 3_600_000
const decay = 0.890898718
const lookback = 48
const base = 250_000_000_000n
const start = Date.UTC(2026, 10, 20, 8)
const iso = (ms: number) => new Date(ms).toISOString()

/** Invented figures of four topics, some of them not published, from a generator that always gives the same. */
function inventInputs(hours: number): OptionInput[] {
  let state = 7
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const rows: OptionInput[] = []
  for (let hour = 1; hour <= hours; hour += 1)
    for (const cluster of ['150', '464', '52', '53'])
      if (next(12) > 0)
        rows.push({
          starts_at: iso(start + (hour - 1) * tick),
          ends_at: iso(start + hour * tick),
          cluster,
          bonded: next(15) === 0 ? null : 20 + next(40),
          event_id: `1-${hour}`,
          synthetic: false,
        })
  return rows
}

/** The index of topic 52 at a point, in ten-thousandths. */
function secondIndex(inputs: readonly OptionInput[], at: number): { value: bigint; agents: number | null } | null {
  const rows = inputs.map((row) => ({ ...row, from: Date.parse(row.starts_at), to: Date.parse(row.ends_at) }))
  const points = Array.from({ length: lookback }, (_, age) => at - age * tick)
  const weights = points.reduce<number[]>((all) => [...all, all.length === 0 ? 1 : (all.at(-1) as number) * decay], [])
  const spoken = points.map((point) => rows.some(({ from, to }) => point > from && point <= to))
  if (!spoken[0]) return null
  const whole = weights.reduce((sum, weight, age) => (spoken[age] ? sum + weight : sum), 0)
  const levels = new Map<string, number>()
  for (const { cluster, bonded, from, to } of rows)
    for (const [age, point] of points.entries())
      if (point > from && point <= to)
        levels.set(cluster, (levels.get(cluster) ?? 0) + (weights[age] as number) * (bonded ?? 0))
  let all = 0
  for (const cluster of [...levels.keys()].sort()) all += (levels.get(cluster) ?? 0) / whole
  const mine = (levels.get('52') ?? 0) / whole
  if (mine === 0) return null
  const share = BigInt(Math.round((mine / all) * 1e12))
  const newest = rows.find(({ cluster, from, to }) => cluster === '52' && at > from && at <= to)
  return { value: (share * 1_000_000n * 2n + base) / (2n * base), agents: newest?.bonded ?? null }
}

const text = (value: bigint) => (Number(value) / 10_000).toFixed(4)

function settle(inputs: readonly OptionInput[], expires: number, agentsMin: number): OptionSettlement {
  const values: bigint[] = []
  for (let at = expires - 23 * tick; at <= expires; at += tick) {
    const point = secondIndex(inputs, at)
    if (point && (point.agents ?? 0) >= agentsMin) values.push(point.value)
  }
  const value = values.sort((a, b) => Number(a - b))[Math.ceil(values.length / 2) - 1] as bigint
  const paid = value > 1_000_000n ? ((value - 1_000_000n) * 7_000_000n) / 10_000n : 0n
  const rows = inputs.map(({ starts_at, ends_at, cluster, bonded }) => [starts_at, ends_at, cluster, bonded])
  const document = {
    type: 'assay.options.settlement/v1',
    symbol: 'TC-52-20261204-100-C',
    cluster: '52',
    kind: 'C' as const,
    strike: 100,
    width: 100,
    size_micro: '7000000',
    expires_at: iso(expires),
    outcome: 'fixed' as const,
    value: text(value),
    payoff_micro: paid.toString(),
    extensions: 0,
    index: { name: 'assay.options.index/v1', tick_ms: tick, decay_ppb: 890_898_718, lookback },
    base_share_e12: base.toString(),
    rules: { window_ms: 24 * tick, agents_min: agentsMin, extensions_max: 2 },
    inputs_after: iso(start),
    inputs_up_to: iso(expires),
    inputs_sha256: createHash('sha256').update(JSON.stringify(rows)).digest('hex'),
  }
  const { symbol, outcome, payoff_micro } = document
  return { symbol, outcome, value: document.value, payoff_micro, document } as unknown as OptionSettlement
}

test('a settlement of the second implementation is replayed without a difference, and any other with one', async () => {
  const inputs = inventInputs(72)
  const settled = settle(inputs, start + 72 * tick, 10)
  expect((await replaySettlement(settled, inputs)).differences).toEqual([])
  const { document } = settled
  const other = { ...document, value: '1.0000' }
  expect((await replaySettlement({ ...settled, document: other }, inputs)).differences).toHaveLength(2)
  const changed = inputs.map((row, at) => (at === inputs.length - 1 ? { ...row, bonded: 59 } : row))
  expect((await replaySettlement(settled, changed)).differences[0]).toContain('inputs_sha256')
})

/** The normal distribution by Simpson's rule: slow, and like no other here. */
function normal(x: number): number {
  const [from, steps] = [-12, 1_000]
  const h = (x - from) / steps
  let sum = 0
  for (let at = 0; at <= steps; at += 1)
    sum += Math.exp(-((from + at * h) ** 2) / 2) * (at === 0 || at === steps ? 1 : at % 2 === 1 ? 4 : 2)
  return (sum * h) / 3 / Math.sqrt(2 * Math.PI)
}

function priced(inputs: readonly OptionInput[], kind: 'call' | 'put', hours: number): OptionSeriesDetail {
  const history: OptionSeriesDetail['history'] = []
  const values: bigint[] = []
  for (let hour = 49; hour <= hours; hour += 1) {
    const point = secondIndex(inputs, start + hour * tick)
    if (!point) continue
    history.push({ at: iso(start + hour * tick), index: text(point.value), agents: point.agents })
    values.push(point.value)
  }
  const changes = values.slice(1).map((value, at) => Math.log(Number(value) / Number(values[at])) ** 2)
  const variance = changes.reduce((sum, change, at) => (at === 0 ? change : 0.97 * sum + 0.03 * change), 0)
  const volatility =
    Math.round(Math.min(3, Math.max(0.3, 1.1 * Math.sqrt(variance * ((365.25 * 86_400_000) / tick)))) * 1e4) / 1e4
  const forward = Number(values.at(-1)) / 10_000
  const [pricedAt, expires] = [start + hours * tick + 20_000, start + 400 * tick]
  const root = volatility * Math.sqrt((expires - pricedAt) / (365.25 * 86_400_000))
  const callAt = (strike: number) => {
    const d1 = Math.log(forward / strike) / root + root / 2
    return forward * normal(d1) - strike * normal(d1 - root)
  }
  // A put by parity, which holds without interest.
  const point = kind === 'call' ? callAt(100) - callAt(200) : callAt(100) - forward + 100
  return {
    symbol: 'TC-52-20261206-100-C',
    cluster: '52',
    kind,
    strike: 100,
    pays_up_to: 100,
    size_micro: '7000000',
    expires_at: iso(expires),
    priced_at: iso(pricedAt),
    index: history.at(-1)?.index ?? null,
    volatility,
    model_micro: Math.ceil(point * 7_000_000).toString(),
    history,
    method: { tick_ms: tick, decay_ppb: 890_898_718, lookback, base_share_e12: base.toString(), time_scale: 1 },
  } as unknown as OptionSeriesDetail
}

test('index, volatility and price of the second implementation are replayed without a difference, and others with one', () => {
  const inputs = inventInputs(80)
  for (const kind of ['call', 'put'] as const) {
    const series = priced(inputs, kind, 80)
    expect(replayPrice(series, inputs)).toMatchObject({ differences: [], ticks: series.history.length })
    const dearer = { ...series, model_micro: (BigInt(series.model_micro ?? 0) + 5n).toString() }
    expect(replayPrice(dearer, inputs).differences[0]).toContain('model_micro')
    const moved = { ...series, volatility: series.volatility + 0.0001 }
    expect(replayPrice(moved, inputs).differences).toHaveLength(1)
    const [first, ...rest] = series.history
    const pushed = [{ ...(first as (typeof rest)[0]), index: '1.0000' }, ...rest]
    expect(replayPrice({ ...series, history: pushed }, inputs).differences[0]).toContain('index at')
  }
})
