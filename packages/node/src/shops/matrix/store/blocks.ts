import type { RowSet } from '../sources/row-set.ts'

/** Large enough for a block of any dataset to fill most of a page, small enough to read one symbol's rows cheaply. */
const rowsPerBlock = 64
/** As many rows as one statement takes without long pauses for others. */
const rowsPerStatement = 8_192

/**
 * Rows ordered by symbol, those of one symbol in the order of the file. The order does not depend on the numbers a
 * database gave to symbols, so the same file reads the same everywhere.
 */
export function orderBySymbol(rows: RowSet, symbolIds: Int32Array): { rows: RowSet; symbolIds: Int32Array } {
  const { symbols, count } = rows
  let ordered = true
  for (let i = 1; ordered && i < count; i += 1) ordered = (symbols[i - 1] as string) <= (symbols[i] as string)
  if (ordered) return { rows, symbolIds }
  const order = Array.from({ length: count }, (_, index) => index).sort((a, b) => {
    const [one, other] = [symbols[a] as string, symbols[b] as string]
    return one < other ? -1 : one > other ? 1 : a - b
  })
  const numbers = Object.fromEntries(
    Object.entries(rows.numbers).map(([name, values]) => [name, pick(new Float64Array(count), values, order)]),
  )
  const texts = Object.fromEntries(
    Object.entries(rows.texts).map(([name, values]) => [name, order.map((index) => values[index] as string | null)]),
  )
  return {
    rows: {
      count,
      symbols: order.map((index) => symbols[index] as string),
      days: pick(new Int32Array(count), rows.days, order),
      numbers,
      texts,
    },
    symbolIds: pick(new Int32Array(count), symbolIds, order),
  }
}

function pick<Values extends Float64Array | Int32Array>(into: Values, from: Values, order: readonly number[]): Values {
  for (let i = 0; i < order.length; i += 1) into[i] = from[order[i] as number] as number
  return into
}

/** The blocks of one statement: rows `from` to `to`, and in them, counted from 1, where each block starts and ends. */
export type BlockCut = {
  from: number
  to: number
  firsts: string[]
  lasts: string[]
  starts: number[]
  ends: number[]
}

/** Rows of one symbol stay in one block, so that one read finds all of them. */
export function cutBlocks(symbols: readonly string[]): BlockCut[] {
  const cuts: BlockCut[] = []
  let cut: BlockCut | undefined
  for (let start = 0; start < symbols.length; ) {
    let end = Math.min(symbols.length, start + rowsPerBlock)
    while (end < symbols.length && symbols[end] === symbols[end - 1]) end += 1
    if (!cut || end - cut.from > rowsPerStatement) {
      cut = { from: start, to: start, firsts: [], lasts: [], starts: [], ends: [] }
      cuts.push(cut)
    }
    cut.firsts.push(symbols[start] as string)
    cut.lasts.push(symbols[end - 1] as string)
    cut.starts.push(start - cut.from + 1)
    cut.ends.push(end - cut.from)
    cut.to = end
    start = end
  }
  return cuts
}
