import { utf8 } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { type AnswerOf, allPages, ask, given, type QueryOf, type RowOf } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'

export type OptionSettlement = AnswerOf<'options.settlements.show'>
export type SettlementDocument = OptionSettlement['document']
export type OptionInput = RowOf<'options.inputs'>

type Fetching = Pick<AssayClient, 'fetch'>

export function listOptionSettlements(
  client: Fetching,
  node: string,
  page: QueryOf<'options.settlements'> = {},
): Promise<AnswerOf<'options.settlements'>> {
  return ask(client, node, 'options.settlements', { query: page })
}

export function readOptionSettlement(client: Fetching, node: string, symbol: string): Promise<OptionSettlement> {
  return ask(client, node, 'options.settlements.show', { params: { symbol } })
}

/** The public figures of a stretch of time, all pages. */
export function readOptionInputs(
  client: Fetching,
  node: string,
  { after, upTo }: { after: string; upTo: string },
): Promise<OptionInput[]> {
  return allPages((cursor) =>
    ask(client, node, 'options.inputs', { query: { after, up_to: upTo, ...given({ cursor }) } }),
  )
}

export type Replay = {
  symbol: string
  outcome: 'fixed' | 'void'
  value: string | null
  payoff_micro: string | null
  /** Every way in which the node's settlement differs from what its public data give; empty when it agrees. */
  differences: string[]
  inputs: number
}

/** Settles a series again from public data and compares: index, median, payoff, and the digest of the inputs. */
export async function replayOptionSettlement(client: Fetching, node: string, symbol: string): Promise<Replay> {
  const settlement = await readOptionSettlement(client, node, symbol)
  const { document } = settlement
  const inputs = await readOptionInputs(client, node, { after: document.inputs_after, upTo: document.inputs_up_to })
  return replaySettlement(settlement, inputs)
}

/** The same without a node: for anyone who keeps the documents. */
export async function replaySettlement(
  settlement: Pick<OptionSettlement, 'symbol' | 'outcome' | 'value' | 'payoff_micro' | 'document'>,
  inputs: readonly OptionInput[],
): Promise<Replay> {
  const { document } = settlement
  const decided = decide(document, inputs)
  const differences: string[] = []
  const compare = (what: string, theirs: unknown, ours: unknown) => {
    if (theirs !== ours) differences.push(`${what}: the node says ${String(theirs)}, its inputs give ${String(ours)}`)
  }
  compare('symbol', document.symbol, settlement.symbol)
  compare('inputs_sha256', document.inputs_sha256, await digestOf(inputs))
  compare('outcome', document.outcome, decided.value === null ? 'void' : 'fixed')
  compare('value', document.value ?? null, decided.value)
  compare('payoff_micro', document.payoff_micro ?? null, decided.payoff)
  compare('the answer’s value', settlement.value, document.value ?? null)
  compare('the answer’s payoff_micro', settlement.payoff_micro, document.payoff_micro ?? null)
  return {
    symbol: settlement.symbol,
    outcome: decided.value === null ? 'void' : 'fixed',
    value: decided.value,
    payoff_micro: decided.payoff,
    differences,
    inputs: inputs.length,
  }
}

async function digestOf(inputs: readonly OptionInput[]): Promise<string> {
  const rows = inputs.map(({ starts_at, ends_at, cluster, bonded }) => [starts_at, ends_at, cluster, bonded])
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(tryCanonicalJson(rows) ?? '')))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

type Point = { value: bigint; agents: number | null }

function decide(
  document: SettlementDocument,
  inputs: readonly OptionInput[],
): { value: string | null; payoff: string | null } {
  const { rules, index } = document
  const expires = Date.parse(document.expires_at)
  const wanted = Math.ceil(rules.window_ms / index.tick_ms / 2)
  for (let extension = 0; extension <= rules.extensions_max; extension += 1) {
    const to = expires + extension * rules.window_ms
    const counted: bigint[] = []
    const first = Math.floor((to - rules.window_ms) / index.tick_ms) * index.tick_ms + index.tick_ms
    for (let at = first; at <= to; at += index.tick_ms) {
      const point = indexAt(document, inputs, at)
      if (point && point.agents !== null && point.agents >= rules.agents_min) counted.push(point.value)
    }
    if (counted.length < wanted) continue
    counted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const value = counted[Math.floor((counted.length - 1) / 2)] as bigint
    return { value: pointsText(value), payoff: payoffOf(document, value).toString() }
  }
  return { value: null, payoff: null }
}

/** Docs/options.md says how, in words; the order of the sums decides the last digit. */
function indexAt(document: SettlementDocument, inputs: readonly OptionInput[], at: number): Point | undefined {
  const { tick_ms, lookback } = document.index
  const decay = document.index.decay_ppb / 1e9
  const weights: number[] = []
  for (let age = 0, weight = 1; age < lookback; age += 1, weight *= decay) weights.push(weight)
  const sums = new Map<string, { weighted: number; agents: number | null }>()
  const spoken = new Set<number>()
  for (const { cluster, starts_at, ends_at, bonded } of inputs) {
    const first = Math.max(0, Math.ceil((at - Date.parse(ends_at)) / tick_ms))
    const behind = Math.min(lookback, Math.ceil((at - Date.parse(starts_at)) / tick_ms))
    if (first >= behind) continue
    const sum = sums.get(cluster) ?? { weighted: 0, agents: null }
    sums.set(cluster, sum)
    if (first === 0) sum.agents = bonded
    const level = Math.max(bonded ?? 0, 0)
    for (let age = first; age < behind; age += 1) {
      spoken.add(age)
      sum.weighted += (weights[age] as number) * level
    }
  }
  const mine = sums.get(document.cluster)
  if (!spoken.has(0) || !mine || mine.weighted === 0) return undefined
  let weight = 0
  for (const [age, one] of weights.entries()) if (spoken.has(age)) weight += one
  const levels = [...sums].filter(([, sum]) => sum.weighted > 0).sort(([a], [b]) => (a < b ? -1 : 1))
  let total = 0
  for (const [, sum] of levels) total += sum.weighted / weight
  const share = BigInt(Math.round((mine.weighted / weight / total) * 1e12))
  const base = BigInt(document.base_share_e12)
  return { value: (share * 1_000_000n + base / 2n) / base, agents: mine.agents }
}

function payoffOf(document: SettlementDocument, value: bigint): bigint {
  const strike = BigInt(document.strike) * 10_000n
  const points = document.kind === 'C' ? value - strike : strike - value
  if (points <= 0n) return 0n
  const most = BigInt(document.width) * 10_000n
  return ((points < most ? points : most) * BigInt(document.size_micro)) / 10_000n
}

const pointsText = (value: bigint): string => `${value / 10_000n}.${(value % 10_000n).toString().padStart(4, '0')}`
