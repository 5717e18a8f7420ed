import { Problem } from '@assay/till/kernel/problem'
import { isCanonicalSymbol, normaliseSymbol } from '../symbols/normalise-symbol.ts'
import type { Snapshot } from './snapshot.ts'

export type PageQuery = { symbols?: readonly string[]; limit: number; minScore?: number; cursor?: string }

/** Which rows of a snapshot a query names, and where to go on. */
export type Page = { rows: readonly number[]; nextCursor: string | null; unranked: Record<string, string> }

export function pageOf(snapshot: Snapshot, query: PageQuery): Page {
  const from = query.cursor === undefined ? 0 : positionIn(snapshot, query.cursor)
  if (query.symbols) return symbolPage(snapshot, query)
  const end = query.minScore === undefined ? snapshot.manifest.row_count : firstBelow(snapshot, query.minScore)
  const to = Math.min(end, from + query.limit)
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
  return { rows, nextCursor: to < end ? cursorText(snapshot.sha256, to) : null, unranked: {} }
}

function symbolPage(snapshot: Snapshot, query: PageQuery): Page {
  const rows: number[] = []
  const unranked: Record<string, string> = {}
  for (const symbol of query.symbols ?? []) {
    const found = snapshot.rowsOf.get(symbol)
    if (found) rows.push(...found)
    else unranked[symbol] = snapshot.excludedReason.get(symbol) ?? 'not_in_this_feed'
  }
  const minimum = query.minScore
  const kept = minimum === undefined ? rows : rows.filter((row) => (snapshot.values[row] as number) >= minimum)
  return { rows: kept.sort((a, b) => a - b).slice(0, query.limit), nextCursor: null, unranked }
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
    throw new Problem('input_invalid', {
      detail: 'query.cursor is not of this snapshot',
      hint: 'Start again without cursor; nothing was charged.',
      extra: { problems: [{ field: 'query.cursor', problem: 'is not of a snapshot that is still held' }] },
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
