import { toBasic } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { nextTradingDay } from '../calendar/trading-days.ts'
import { licences } from '../licences/licence.ts'
import type { Source } from './source.ts'
import { dateInName, parseThresholdList } from './threshold-list.ts'
import { listDays, tradingDayFiles } from './trading-day-files.ts'

export const cboeThreshold: Source = {
  id: 'cboe-threshold',
  title: 'Cboe BZX Reg SHO threshold list',
  publisher: 'Cboe',
  dataset: 'threshold',
  urlPattern:
    'https://cdn.cboe.com/resources/us/equities/market-statistics/reg-sho-threshold/bzx_equities_reg_sho_threshold_YYYYMMDD.txt',
  schedule: {
    cadence: 'the morning after every trading day',
    graceMs: 12 * 3_600_000,
    ...tradingDayFiles(listDays, (day) => [
      {
        url: `https://cdn.cboe.com/resources/us/equities/market-statistics/reg-sho-threshold/bzx_equities_reg_sho_threshold_${toBasic(day)}.txt`,
        name: `bzx_equities_reg_sho_threshold_${toBasic(day)}.txt`,
        period: day,
        dueAtMs: easternToUtcMs(nextTradingDay(day), 8),
      },
    ]),
  },
  minRequestIntervalMs: 2_000,
  licence: licences.cboe,
  seen: 'documented layout',
  bytesMax: 1024 * 1024,
  recognises: (name) => /^bzx_equities_reg_sho_threshold_\d{8}\.txt/.test(name),
  parse: (file) => parseThresholdList(file, { part: 'cboe', nameColumn: 'CompanyName', dateOf: dateInName }),
  latestPublicationMs: ({ asOf }) => easternToUtcMs(nextTradingDay(asOf), 8),
}
