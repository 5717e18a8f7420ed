/** A split of a symbol: shares of before `day` times `factor` are shares of since. NaN where only the fact is known. */
export type Split = { day: number; factor: number; file: number }
/** From one symbol to the next: old rows end before `firstNew`, new ones begin after `lastOld`. */
export type Rename = { from: string; to: string; lastOld: number; firstNew: number; file: number }
export type Actions = { splits: ReadonlyMap<string, readonly Split[]>; renames: readonly Rename[] }

/** One security number under one symbol, as the fails files show it. */
export type Line = {
  cusip: string
  symbol: string
  first: number
  last: number
  firstPrice: number
  lastPrice: number
  /** The file that showed it first. */
  file: number
}

export type Listed = { symbol: string; day: number; factor: number; newSymbol: string | null; file: number }

/** A new security number while the price changes this much: another count of shares, or another company under the symbol. */
const priceStep = 1.5
/** Fails settle two days after the trade, and a name may have none for weeks: a listed split this near explains the sign. */
const nearDays = 7

/** What is listed counts as listed. What only the fails files show has no ratio: prices move too much on such days to tell it. */
export function findActions(lines: readonly Line[], listed: readonly Listed[]): Actions {
  const splits = new Map<string, Split[]>()
  const add = (symbol: string, split: Split) => splits.set(symbol, [...(splits.get(symbol) ?? []), split])
  const renames: Rename[] = []
  for (const { symbol, day, factor, newSymbol, file } of listed) {
    if (newSymbol !== null) renames.push({ from: symbol, to: newSymbol, lastOld: day - 1, firstNew: day, file })
    if (!Number.isNaN(factor)) add(newSymbol ?? symbol, { day, factor, file })
  }
  for (const [old, next] of neighbours(lines, ({ cusip }) => cusip))
    if (old.symbol !== next.symbol && !renames.some(({ from }) => from === old.symbol))
      renames.push({ from: old.symbol, to: next.symbol, lastOld: old.last, firstNew: next.first, file: next.file })
  for (const [old, next] of neighbours(lines, ({ symbol }) => symbol)) {
    const step = next.firstPrice / old.lastPrice
    if (old.cusip === next.cusip || !(step >= priceStep || step <= 1 / priceStep)) continue
    const explained = (splits.get(next.symbol) ?? []).some(
      ({ day }) => day > old.last - nearDays && day <= next.first + nearDays,
    )
    if (!explained) add(next.symbol, { day: next.first, factor: Number.NaN, file: next.file })
  }
  for (const list of splits.values()) list.sort((a, b) => a.day - b.day)
  return { splits, renames }
}

/** Pairs of lines that follow each other in time under the same key. */
function* neighbours(lines: readonly Line[], keyOf: (line: Line) => string): Generator<[Line, Line]> {
  const last = new Map<string, Line>()
  for (const line of [...lines].sort((a, b) => a.first - b.first || a.last - b.last)) {
    const before = last.get(keyOf(line))
    if (before && before.last < line.first) yield [before, line]
    if (!before || line.last >= before.last) last.set(keyOf(line), line)
  }
}

/** What a count of shares of a day is in shares of now; a price is divided by it. */
export function shareFactor(splits: readonly Split[] | undefined, day: number, today: number): number {
  let factor = 1
  for (const split of splits ?? []) if (split.day > day && split.day <= today) factor *= split.factor
  return factor
}
