import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import type { Source } from './source.ts'
import { dateInName, parseThresholdList } from './threshold-list.ts'
import { listDays, tradingDayFiles } from './trading-day-files.ts'

const markets = ['NYSE', 'NYSE Arca', 'NYSE American'] as const
const nameOf = (market: string, day: string) => `threshold-${market.toLowerCase().replace(' ', '-')}-${day}.txt`

export const nyseThreshold: Source = {
  id: 'nyse-threshold',
  title: 'NYSE, Arca and American Reg SHO threshold lists',
  publisher: 'NYSE',
  dataset: 'threshold',
  urlPattern: 'https://www.nyse.com/api/regulatory/threshold-securities/download?selectedDate=YYYY-MM-DD&market=…',
  schedule: {
    cadence: 'every trading day about 22:00 ET',
    graceMs: 12 * 3_600_000,
    ...tradingDayFiles(listDays, (day) =>
      markets.map((market) => ({
        url: `https://www.nyse.com/api/regulatory/threshold-securities/download?selectedDate=${day}&market=${encodeURIComponent(market)}`,
        name: nameOf(market, day),
        period: day,
        dueAtMs: easternToUtcMs(day, 22, 30),
      })),
    ),
  },
  // About 55 quick requests end in a ban.
  minRequestIntervalMs: 5_000,
  licence: licences.nyse,
  seen: 'documented layout',
  bytesMax: 1024 * 1024,
  recognises: (name) => /^threshold-nyse(-arca|-american)?-/.test(name),
  parse: (file) =>
    parseThresholdList(file, {
      part: /^threshold-(nyse(?:-arca|-american)?)-/.exec(file.name)?.[1] ?? 'nyse',
      nameColumn: 'Security Name',
      dateOf: dateInName,
      placeholder: (stamp) => stamp.endsWith('000500') || stamp.endsWith('050000') || /0500$/.test(stamp),
    }),
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 22, 30),
}
