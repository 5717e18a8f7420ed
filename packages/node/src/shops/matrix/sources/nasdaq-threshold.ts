import { toBasic } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import type { Source } from './source.ts'
import { dateInName, parseThresholdList } from './threshold-list.ts'
import { listDays, tradingDayFiles } from './trading-day-files.ts'

export const nasdaqThreshold: Source = {
  id: 'nasdaq-threshold',
  title: 'Nasdaq Reg SHO threshold list',
  publisher: 'Nasdaq Trader',
  dataset: 'threshold',
  urlPattern: 'https://www.nasdaqtrader.com/dynamic/symdir/regsho/nasdaqthYYYYMMDD.txt',
  schedule: {
    cadence: 'every trading day about 23:00 ET',
    graceMs: 12 * 3_600_000,
    ...tradingDayFiles(listDays, (day) => [
      {
        url: `https://www.nasdaqtrader.com/dynamic/symdir/regsho/nasdaqth${toBasic(day)}.txt`,
        name: `nasdaqth${toBasic(day)}.txt`,
        period: day,
        dueAtMs: easternToUtcMs(day, 23, 15),
      },
    ]),
  },
  minRequestIntervalMs: 2_000,
  licence: licences.nasdaq,
  seen: 'documented layout',
  bytesMax: 1024 * 1024,
  recognises: (name) => /^nasdaqth\d{8}\.txt/.test(name),
  parse: (file) => parseThresholdList(file, { part: 'nasdaq', nameColumn: 'Security Name', dateOf: dateInName }),
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 23, 15),
}
