import { cellsOf, findColumns } from '../../reading/columns.ts'
import { dayReader } from '../../reading/day-reader.ts'
import { readPrice } from '../../reading/decimal.ts'
import { decodeText, linesOf } from '../../reading/decode-text.ts'
import { refuse, shown } from '../../reading/refused.ts'
import { normaliseSymbol } from '../../symbols/normalise-symbol.ts'
import type { PriceFormat } from './collect-bars.ts'

const names = ['<TICKER>', '<PER>', '<DATE>', '<OPEN>', '<HIGH>', '<LOW>', '<CLOSE>', '<VOL>'] as const

/** The ASCII files of Stooq and of programs that read them: `AAPL.US,D,20210702,000000,…`, whole days of all markets. */
export const stooq: PriceFormat = {
  id: 'stooq',
  recognises: (name, head) => /^stooq.*\.txt/.test(name) || head.startsWith('<TICKER>,<PER>,<DATE>'),
  keyParameter: 'apikey',
  extension: 'txt',
  read: ({ bytes }, add) => {
    const lines = linesOf(decodeText(bytes, 'utf-8'))
    const { at, width } = findColumns(lines[0] ?? '', ',', names)
    const dayOf = dayReader('basic')
    for (let i = 1; i < lines.length; i += 1) {
      const cells = cellsOf(lines[i] as string, ',', width, i + 1)
      const [ticker, period, date] = [at['<TICKER>'], at['<PER>'], at['<DATE>']].map((index) => cells[index] as string)
      if (period !== 'D') refuse('row', `line ${i + 1} is no daily bar: ${shown(period ?? '')}`)
      const figure = (name: (typeof names)[number]) => readPrice(cells[at[name]] as string, name)
      add({
        symbol: usSymbol(ticker ?? ''),
        ticker: ticker ?? '',
        day: dayOf(date ?? '') ?? refuse('date', `line ${i + 1} has no date: ${shown(date ?? '')}`),
        open: figure('<OPEN>'),
        high: figure('<HIGH>'),
        low: figure('<LOW>'),
        close: figure('<CLOSE>'),
        volume: figure('<VOL>'),
      })
    }
  },
}

/** `BRK-B.US`; other markets are in the same file. */
function usSymbol(ticker: string): string | undefined {
  const us = /^(.+)\.US$/i.exec(ticker)
  return us ? normaliseSymbol((us[1] as string).toUpperCase(), 'sec') : undefined
}
