import { isIsoDate, toDayNumber } from '../../calendar/dates.ts'
import { readJson } from '../../reading/read-json.ts'
import { refuse, shown } from '../../reading/refused.ts'
import { normaliseSymbol } from '../../symbols/normalise-symbol.ts'
import type { PriceFormat } from './collect-bars.ts'
import { jsonFigure } from './json-figure.ts'

/** EODHD: a whole exchange of a day in one answer ("bulk last day"). The close is as traded, not `adjusted_close`. */
export const eodhd: PriceFormat = {
  id: 'eodhd',
  recognises: (name, head) => /^eodhd.*\.json/.test(name) || /^\s*\[\s*\{\s*"code"/.test(head),
  url: 'https://eodhd.com/api/eod-bulk-last-day/US?date={date}&fmt=json',
  keyParameter: 'api_token',
  extension: 'json',
  read: ({ bytes }, add) => {
    const list = readJson(bytes)
    if (!Array.isArray(list)) return refuse('header', 'this is no list of bars')
    for (const bar of list as Record<string, unknown>[]) {
      const { code, date } = bar ?? {}
      if (typeof code !== 'string' || typeof date !== 'string' || !isIsoDate(date))
        return refuse('row', `a bar has no code or date: ${shown(JSON.stringify(bar))}`)
      const elsewhere = bar.exchange_short_name !== undefined && bar.exchange_short_name !== 'US'
      add({
        symbol: elsewhere ? undefined : normaliseSymbol(code, 'sec'),
        ticker: elsewhere ? `${code}.${String(bar.exchange_short_name)}` : code,
        day: toDayNumber(date),
        open: jsonFigure(bar.open, 'open'),
        high: jsonFigure(bar.high, 'high'),
        low: jsonFigure(bar.low, 'low'),
        close: jsonFigure(bar.close, 'close'),
        volume: jsonFigure(bar.volume, 'volume'),
      })
    }
  },
}
