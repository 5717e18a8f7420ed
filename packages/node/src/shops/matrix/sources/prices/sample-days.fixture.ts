import { type IsoDate, toBasic } from '../../calendar/dates.ts'
import { easternToUtcMs } from '../../calendar/eastern-time.ts'

const symbols = ['AAPL', 'BRK.B', 'GME'] as const
const closeOf = (symbol: string, date: IsoDate) => symbol.length * 10 + Number(date.slice(8)) / 4

/** A day as the grouped-daily answer of Polygon has it. */
export function polygonDay(date: IsoDate, tickers: readonly string[] = symbols): string {
  const results = tickers.map((T) => {
    const c = closeOf(T, date)
    return { T, o: c - 0.5, h: c + 1, l: c - 1, c, v: 10_000, vw: c, n: 12, t: easternToUtcMs(date, 16) }
  })
  return JSON.stringify({
    adjusted: false,
    queryCount: results.length,
    results,
    resultsCount: results.length,
    status: 'OK',
  })
}

/** A day in the ASCII form of Stooq. */
export function stooqDay(date: IsoDate): string {
  const rows = symbols.map((symbol) => {
    const close = closeOf(symbol, date)
    return `${symbol.replace('.', '-')}.US,D,${toBasic(date)},000000,${close - 0.5},${close + 1},${close - 1},${close},10000,0`
  })
  return `<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n${rows.join('\n')}\n`
}
