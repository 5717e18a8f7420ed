import type { Json } from '@assay/protocol/canonical-json'
import { feeds } from '../feeds/catalogue.ts'
import { columnValues } from '../snapshots/columns-of.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { Rule } from './rule.ts'

/** What a rule saw last; `figure` is null where nothing was known. */
export type Seen = { figure: number | null; holds: boolean }

export type Alert = { subject: string; key: string; payload: { [key: string]: Json } }

export type Checked = { alerts: Alert[]; seen: ReadonlyMap<string, Seen> }

/**
 * Holds rules against a snapshot of their feed. A rule tells when it begins to hold, not while it goes on to; a rule that is
 * new only learns how things are. What is unknown changes nothing.
 */
export function checkRules(snapshot: Snapshot, rules: readonly Rule[], before: ReadonlyMap<string, Seen>): Checked {
  const alerts: Alert[] = []
  const seen = new Map<string, Seen>()
  for (const rule of rules) {
    if (rule.symbol === '*') {
      alerts.push(...newEntries(snapshot, rule))
      seen.set(rule.text, { figure: null, holds: false })
      continue
    }
    const last = before.get(rule.text)
    const figure = figureOf(snapshot, rule)
    const next = nextSeen(rule, last, figure)
    seen.set(rule.text, next)
    if (last && figure !== null && isNews(rule, last, next, figure))
      alerts.push(alertOf(snapshot, rule, rule.symbol, snapshot.sha256, { figure, before: last.figure }))
  }
  return { alerts, seen }
}

function figureOf(snapshot: Snapshot, { feed, symbol, field }: Rule): number | null {
  const [row] = snapshot.rowsOf.get(symbol) ?? []
  if (row === undefined) return null
  if (field === 'rank') return row + 1
  const figure = valuesOf(snapshot, feed, field)[row] as number
  return Number.isNaN(figure) ? null : figure
}

function valuesOf(snapshot: Snapshot, feed: Rule['feed'], field: string): Float64Array {
  const column = feeds[feed].columns.find(({ name }) => name === field)
  const values = column && columnValues(snapshot, column)
  return values?.kind === 'number' ? values.values : new Float64Array(0)
}

function nextSeen(rule: Rule, last: Seen | undefined, figure: number | null): Seen {
  if (figure === null) return last ?? { figure: null, holds: false }
  // The rank of the last alert stays the reference, so that slow moves add up.
  if (rule.operator === '~')
    return moved(rule, last, figure) || last?.figure == null ? { figure, holds: false } : (last as Seen)
  return { figure, holds: holds(rule, figure) }
}

const moved = ({ figure: places }: Rule, last: Seen | undefined, rank: number) =>
  last?.figure != null && Math.abs(rank - last.figure) >= places

function isNews(rule: Rule, last: Seen, next: Seen, figure: number): boolean {
  return rule.operator === '~' ? moved(rule, last, figure) : next.holds && !last.holds
}

function holds({ operator, figure: limit }: Rule, figure: number): boolean {
  if (operator === '>=') return figure >= limit
  if (operator === '<=') return figure <= limit
  return operator === '>' ? figure > limit : figure < limit
}

/** One alert for each symbol and list; the same list seen again is no news. */
function newEntries(snapshot: Snapshot, rule: Rule): Alert[] {
  const values = valuesOf(snapshot, rule.feed, rule.field)
  return [...snapshot.rowsOf].flatMap(([symbol, [row]]) =>
    values[row as number] === 1
      ? [alertOf(snapshot, rule, symbol, `${snapshot.manifest.as_of} ${symbol}`, { figure: 1, before: null })]
      : [],
  )
}

function alertOf(
  { manifest, sha256 }: Snapshot,
  rule: Rule,
  symbol: string,
  key: string,
  { figure, before }: { figure: number; before: number | null },
): Alert {
  const unit = feeds[rule.feed].columns.find(({ name }) => name === rule.field)?.unit ?? 'place'
  const figureText = unit === 'flag' ? '' : ` is ${figure} (${unit})${before === null ? '' : `, was ${before}`}`
  return {
    subject: rule.text,
    key,
    payload: {
      text: `${symbol}: ${rule.field.replaceAll('_', ' ')}${figureText}`,
      rule: rule.text,
      feed: rule.feed,
      symbol,
      field: rule.field,
      unit,
      value: figure,
      before,
      as_of: manifest.as_of,
      available_at: manifest.available_at,
      method: manifest.method,
      snapshot_sha256: sha256,
      synthetic: manifest.synthetic ?? false,
    },
  }
}
