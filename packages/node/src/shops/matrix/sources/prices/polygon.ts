import { toDayNumber } from '../../calendar/dates.ts'
import { easternDate } from '../../calendar/eastern-time.ts'
import { readJson } from '../../reading/read-json.ts'
import { refuse, shown } from '../../reading/refused.ts'
import { normaliseSymbol } from '../../symbols/normalise-symbol.ts'
import type { PriceFormat } from './collect-bars.ts'
import { jsonFigure } from './json-figure.ts'

type Result = Record<'T' | 'o' | 'h' | 'l' | 'c' | 'v' | 't', unknown>

/** Polygon.io, now Massive: all stocks of a day in one answer ("grouped daily"). */
export const polygon: PriceFormat = {
  id: 'polygon',
  recognises: (name, head) => /^polygon.*\.json/.test(name) || /^\s*\{[^[]*"(resultsCount|queryCount)"/.test(head),
  url: 'https://api.polygon.io/v2/aggs/grouped/locale/us/market/stocks/{date}?adjusted=false',
  keyParameter: 'apiKey',
  extension: 'json',
  read: ({ bytes }, add) => {
    const { results, resultsCount, status } = readJson(bytes) as Record<string, unknown>
    if (status !== 'OK' && status !== 'DELAYED') refuse('header', `the status is ${shown(String(status))}`)
    if (results !== undefined && !Array.isArray(results)) refuse('header', 'results is no list')
    const bars = (results ?? []) as Result[]
    if (resultsCount !== bars.length)
      refuse('count', `resultsCount says ${String(resultsCount)} and there are ${bars.length}`)
    for (const bar of bars) {
      const { T: ticker, t } = bar ?? {}
      if (typeof ticker !== 'string' || typeof t !== 'number' || !Number.isFinite(t))
        refuse('row', `a result has no ticker or time: ${shown(JSON.stringify(bar))}`)
      add({
        symbol: normaliseSymbol(ticker as string, 'finra'),
        ticker: ticker as string,
        day: toDayNumber(easternDate(t as number)),
        open: jsonFigure(bar.o, 'o'),
        high: jsonFigure(bar.h, 'h'),
        low: jsonFigure(bar.l, 'l'),
        close: jsonFigure(bar.c, 'c'),
        volume: jsonFigure(bar.v, 'v'),
      })
    }
  },
}
