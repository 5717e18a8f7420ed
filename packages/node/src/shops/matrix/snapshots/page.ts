import { fieldProblem } from '@assay/till/kernel/problem'
import { isCanonicalSymbol, normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { type Selection, selectRows } from './select-rows.ts'
import type { Snapshot } from './snapshot.ts'

export type PageQuery = {
  symbols?: readonly string[]
  limit: number
  minScore?: number
  cursor?: string
  sort?: string
  filter?: string
  /** Whether columns that only vip shows may be asked about. */
  vip?: boolean
}

/** Which rows of a snapshot a query names, and where to go on. */
export type Page = { rows: readonly number[]; nextCursor: string | null; unranked: Record<string, string> }

export function pageOf(snapshot: Snapshot, query: PageQuery): Page {
  const from = query.cursor === undefined ? 0 : positionIn(snapshot, query.cursor)
  const selection = selectRows(snapshot, { ...query, vip: query.vip === true })
  if (query.symbols) return symbolPage(snapshot, query, selection)
  if (selection) return selectedPage(snapshot, query, selection, from)
  const end = query.minScore === undefined ? snapshot.manifest.row_count : firstBelow(snapshot, query.minScore)
  const to = Math.min(end, from + query.limit)
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
  return { rows, nextCursor: to < end ? cursorText(snapshot.sha256, to) : null, unranked: {} }
}

/** Goes along the order from where the page before stopped; the cursor is a place in the order, whatever the filter left out. */
function selectedPage(snapshot: Snapshot, query: PageQuery, { order, holds }: Selection, from: number): Page {
  const { limit, minScore = Number.NEGATIVE_INFINITY } = query
  const count = snapshot.manifest.row_count
  const rows: number[] = []
  let at = from
  for (; at < count && rows.length <= limit; at += 1) {
    const row = order === undefined ? at : (order[at] as number)
    if ((snapshot.values[row] as number) >= minScore && holds(row)) rows.push(row)
  }
  // One more than asked for tells whether there is a next page; it begins with that one.
  if (rows.length <= limit) return { rows, nextCursor: null, unranked: {} }
  rows.pop()
  return { rows, nextCursor: cursorText(snapshot.sha256, at - 1), unranked: {} }
}

function symbolPage(snapshot: Snapshot, query: PageQuery, selection: Selection | undefined): Page {
  const rows: number[] = []
  const unranked: Record<string, string> = {}
  for (const symbol of query.symbols ?? []) {
    const found = snapshot.rowsOf.get(symbol)
    if (found) rows.push(...found)
    else unranked[symbol] = snapshot.excludedReason.get(symbol) ?? 'not_in_this_feed'
  }
  const minimum = query.minScore
  const kept = rows.filter(
    (row) => (minimum === undefined || (snapshot.values[row] as number) >= minimum) && (selection?.holds(row) ?? true),
  )
  return { rows: inOrder(kept, selection?.order).slice(0, query.limit), nextCursor: null, unranked }
}

function inOrder(rows: number[], order: Int32Array | undefined): number[] {
  if (order === undefined) return rows.sort((a, b) => a - b)
  const wanted = new Set(rows)
  // One walk along the order, however many symbols are asked for.
  return Array.from(order.filter((row) => wanted.has(row)))
}

/** Rows are ordered by value, so those below a minimum are all at the end. */
function firstBelow(snapshot: Snapshot, minimum: number): number {
  let low = 0
  let high = snapshot.values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((snapshot.values[middle] as number) >= minimum) low = middle + 1
    else high = middle
  }
  return low
}

const cursorPattern = /^([0-9a-f]{64})\.(\d{1,7})$/

export const cursorText = (sha256: string, row: number) => `${sha256}.${row}`

export function snapshotOfCursor(cursor: string): string | undefined {
  return cursorPattern.exec(cursor)?.[1]
}

function positionIn(snapshot: Snapshot, cursor: string): number {
  const match = cursorPattern.exec(cursor)
  if (!match || match[1] !== snapshot.sha256 || Number(match[2]) > snapshot.manifest.row_count)
    throw fieldProblem('query.cursor', 'is not of a snapshot that is still held', {
      hint: 'Start again without cursor; nothing was charged.',
    })
  return Number(match[2])
}

/** `BRK.B`, `BRK/B`, `BRK-B` and `brk b` all mean the same paper. */
export function readSymbols(text: string): string[] | undefined {
  const symbols = text.split(',').map((part) => normaliseSymbol(part.trim().toUpperCase(), 'plain'))
  return symbols.length <= 50 && symbols.every((symbol) => symbol !== undefined && isCanonicalSymbol(symbol))
    ? (symbols as string[])
    : undefined
}
