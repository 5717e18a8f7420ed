import { cellsOf, findColumns } from '../../reading/columns.ts'
import { dayReader } from '../../reading/day-reader.ts'
import { readPrice } from '../../reading/decimal.ts'
import { decodeText, linesOf } from '../../reading/decode-text.ts'
import { refuse, shown } from '../../reading/refused.ts'
import { normaliseSymbol } from '../../symbols/normalise-symbol.ts'
import type { PriceFormat } from './collect-bars.ts'

/** `ticker,date,open,high,low,close,volume`: for files of the operator's own making, one day or many. */
export const ownCsv: PriceFormat = {
  id: 'csv',
  recognises: (name, head) =>
    /^(prices|ohlcv).*\.csv/.test(name) || /^ticker,date,open,high,low,close,volume/.test(head),
  keyParameter: 'apikey',
  extension: 'csv',
  read: ({ bytes }, add) => {
    const lines = linesOf(decodeText(bytes, 'utf-8'))
    const names = ['ticker', 'date', 'open', 'high', 'low', 'close', 'volume'] as const
    const { at, width } = findColumns(lines[0] ?? '', ',', names)
    const dayOf = dayReader('iso')
    for (let i = 1; i < lines.length; i += 1) {
      const cells = cellsOf(lines[i] as string, ',', width, i + 1)
      const [ticker, date] = [cells[at.ticker] as string, cells[at.date] as string]
      add({
        symbol: normaliseSymbol(ticker, 'sec'),
        ticker,
        day: dayOf(date) ?? refuse('date', `line ${i + 1} has no date: ${shown(date)}`),
        open: readPrice(cells[at.open] as string, 'open'),
        high: readPrice(cells[at.high] as string, 'high'),
        low: readPrice(cells[at.low] as string, 'low'),
        close: readPrice(cells[at.close] as string, 'close'),
        volume: readPrice(cells[at.volume] as string, 'volume'),
      })
    }
  },
}
