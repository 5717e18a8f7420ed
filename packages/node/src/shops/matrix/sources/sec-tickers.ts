import { addDays, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { readJson } from '../reading/read-json.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { writeRows } from './row-set.ts'
import { cikOf } from './sec-shares.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'
import { dateInName } from './threshold-list.ts'

const url = 'https://www.sec.gov/files/company_tickers_exchange.json'

/** Which company number belongs to a ticker: the bridge from XBRL to symbols. */
export const secTickers: Source = {
  id: 'sec-tickers',
  title: 'Company numbers and tickers',
  publisher: 'U.S. SEC',
  dataset: 'tickers',
  urlPattern: url,
  schedule: {
    cadence: 'read every day',
    graceMs: 14 * 86_400_000,
    due: (nowMs) => {
      const day = addDays(easternDate(nowMs), -1)
      return [
        {
          url,
          name: `company_tickers_exchange.${day.replaceAll('-', '')}.json`,
          period: day,
          dueAtMs: easternToUtcMs(day, 6),
        },
      ]
    },
  },
  minRequestIntervalMs: 500,
  licence: licences.sec,
  seen: 'documented layout',
  bytesMax: 16 * 1024 * 1024,
  recognises: (name) => /^company_tickers_exchange/.test(name),
  parse: parseTickers,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 6),
}

export function parseTickers(file: RawFile): ParsedFile {
  const document = readJson(file.bytes) as { fields?: unknown; data?: unknown }
  if (!Array.isArray(document?.fields) || !Array.isArray(document.data))
    return refuse('header', 'fields and data are missing')
  const at = (name: string) => {
    const index = (document.fields as unknown[]).indexOf(name)
    return index >= 0 ? index : refuse('header', `the field ${name} is missing`)
  }
  const [cikAt, nameAt, tickerAt] = [at('cik'), at('name'), at('ticker')]
  // The file bears no date: its name does, or it is of the day it was read.
  const asOf = dateInName(file.name) ?? easternDate(file.nowMs)
  const rows = writeRows(document.data.length, { numbers: ['cik'], texts: ['name'] })
  const seen = new Set<string>()
  const skipped = { 'not a symbol': 0, duplicate: 0 }
  for (const entry of document.data as unknown[]) {
    if (!Array.isArray(entry) || typeof entry[tickerAt] !== 'string')
      return refuse('row', `not an entry: ${shown(JSON.stringify(entry) ?? '')}`)
    const symbol = normaliseSymbol(entry[tickerAt] as string, 'sec')
    if (symbol === undefined) skipped['not a symbol'] += 1
    else if (seen.has(symbol)) skipped['duplicate'] += 1
    else {
      seen.add(symbol)
      const row = rows.add(symbol, toDayNumber(asOf))
      rows.set('cik', row, cikOf(entry[cikAt]))
      rows.setText('name', row, String(entry[nameAt] ?? '').slice(0, 120))
    }
  }
  if (seen.size === 0) refuse('empty', 'the file has no tickers')
  return { part: 'all', period: asOf, asOf, rows: rows.done(), skipped }
}
