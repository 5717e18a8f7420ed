import { utf8 } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { type AnswerOf, allPages, ask, given, type QueryOf } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { type IndexTerms, indexAt, type OptionInput, pointsText } from './replay-index.ts'

export type OptionSettlement = AnswerOf<'options.settlements.show'>
export type SettlementDocument = OptionSettlement['document']

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

function decide(
  document: SettlementDocument,
  inputs: readonly OptionInput[],
): { value: string | null; payoff: string | null } {
  const { rules, index } = document
  const terms: IndexTerms = { ...index, cluster: document.cluster, base_share_e12: document.base_share_e12 }
  const expires = Date.parse(document.expires_at)
  const wanted = Math.ceil(rules.window_ms / index.tick_ms / 2)
  for (let extension = 0; extension <= rules.extensions_max; extension += 1) {
    const to = expires + extension * rules.window_ms
    const counted: bigint[] = []
    const first = Math.floor((to - rules.window_ms) / index.tick_ms) * index.tick_ms + index.tick_ms
    for (let at = first; at <= to; at += index.tick_ms) {
      const point = indexAt(terms, inputs, at)
      if (point && point.agents !== null && point.agents >= rules.agents_min) counted.push(point.value)
    }
    if (counted.length < wanted) continue
    counted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const value = counted[Math.floor((counted.length - 1) / 2)] as bigint
    return { value: pointsText(value), payoff: payoffOf(document, value).toString() }
  }
  return { value: null, payoff: null }
}

function payoffOf(document: SettlementDocument, value: bigint): bigint {
  const strike = BigInt(document.strike) * 10_000n
  const points = document.kind === 'C' ? value - strike : strike - value
  if (points <= 0n) return 0n
  const most = BigInt(document.width) * 10_000n
  return ((points < most ? points : most) * BigInt(document.size_micro)) / 10_000n
}
