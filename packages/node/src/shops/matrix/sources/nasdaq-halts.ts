import { fromAmerican, type IsoDate, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { readCount, readOptional } from '../reading/decimal.ts'
import { decodeText } from '../reading/decode-text.ts'
import { readXml, type XmlElement } from '../reading/read-xml.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

const url = 'https://www.nasdaqtrader.com/rss.aspx?feed=tradehalts'

export const nasdaqHalts: Source = {
  id: 'nasdaq-halts',
  title: 'Trading halts of all listing markets',
  publisher: 'Nasdaq Trader',
  dataset: 'halts',
  urlPattern: url,
  schedule: {
    cadence: 'live; read every five minutes',
    graceMs: 30 * 60_000,
    refetchMs: 4.5 * 60_000,
    due: (nowMs) => [
      {
        url,
        name: 'tradehalts.xml',
        period: new Date(Math.floor(nowMs / 300_000) * 300_000).toISOString(),
        dueAtMs: Math.floor(nowMs / 300_000) * 300_000,
      },
    ],
  },
  minRequestIntervalMs: 2_000,
  licence: licences.nasdaq,
  seen: 'published files',
  bytesMax: 4 * 1024 * 1024,
  recognises: (name, head) => /tradehalts/.test(name) || (head.includes('<rss') && head.includes('nasdaqtrader.com')),
  parse: (file) => parseHalts(file),
  latestPublicationMs: ({ period }) => Date.parse(period),
}

export function parseHalts(file: RawFile): ParsedFile {
  const rss = readXml(decodeText(file.bytes, 'utf-8'))
  const channel = childOf(rss, 'channel')
  if (rss.name !== 'rss' || !channel) return refuse('xml', 'this is no RSS feed')
  const items = channel.children.filter((child) => child.name === 'item')
  const announced = readCount(textOf(channel, 'ndaq:numItems') ?? refuse('trailer', 'numItems is missing'), 'numItems')
  if (announced !== items.length) refuse('count', `numItems says ${announced} halts and there are ${items.length}`)
  const publishedAtMs = Date.parse(textOf(channel, 'pubDate') ?? '')
  if (Number.isNaN(publishedAtMs)) refuse('date', 'pubDate is missing')
  const today = easternDate(publishedAtMs)
  refuseFuture(today, file.nowMs)
  const rows = writeRows(items.length, {
    numbers: ['halted_at_ms', 'quote_at_ms', 'trade_at_ms', 'pause_price'],
    texts: ['reason', 'market', 'name'],
  })
  let skipped = 0
  for (const item of items) {
    const date = fromAmerican(textOf(item, 'ndaq:HaltDate') ?? '') ?? refuse('date', 'a halt has no date')
    refuseFuture(date, file.nowMs, 'a halt')
    const symbol = normaliseSymbol(textOf(item, 'ndaq:IssueSymbol') ?? '', 'nasdaq')
    if (symbol === undefined) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, toDayNumber(date))
    const resumption = fromAmerican(textOf(item, 'ndaq:ResumptionDate') ?? '')
    rows.set('halted_at_ms', row, timeOf(date, textOf(item, 'ndaq:HaltTime')) ?? refuse('date', 'a halt has no time'))
    rows.set('quote_at_ms', row, resumption ? timeOf(resumption, textOf(item, 'ndaq:ResumptionQuoteTime')) : null)
    rows.set('trade_at_ms', row, resumption ? timeOf(resumption, textOf(item, 'ndaq:ResumptionTradeTime')) : null)
    rows.set('pause_price', row, readOptional(textOf(item, 'ndaq:PauseThresholdPrice') ?? '', 'the pause price'))
    rows.setText('reason', row, reasonOf(textOf(item, 'ndaq:ReasonCode') ?? ''))
    rows.setText('market', row, textOf(item, 'ndaq:Market') ?? textOf(item, 'ndaq:Mkt') ?? null)
    rows.setText('name', row, (textOf(item, 'ndaq:IssueName') ?? '').slice(0, 120))
  }
  return {
    part: 'all',
    period: new Date(publishedAtMs).toISOString(),
    asOf: today,
    stampedAtMs: publishedAtMs,
    rows: rows.done(),
    skipped: { 'not a symbol': skipped },
  }
}

const childOf = (element: XmlElement, name: string) => element.children.find((child) => child.name === name)

function textOf(element: XmlElement, name: string): string | undefined {
  const text = childOf(element, name)?.text.trim()
  return text === '' ? undefined : text
}

function reasonOf(text: string): string {
  return /^[A-Z][A-Z0-9.]{0,7}$/.test(text) ? text : refuse('row', `not a reason code: ${shown(text)}`)
}

/** `10:08:56.356`, Eastern. */
function timeOf(date: IsoDate, text: string | undefined): number | null {
  if (text === undefined) return null
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?$/.exec(text)
  if (!match || Number(match[1]) > 23 || Number(match[2]) > 59 || Number(match[3]) > 59)
    return refuse('date', `not a time of day: ${shown(text)}`)
  return easternToUtcMs(
    date,
    Number(match[1]),
    Number(match[2]),
    Number(match[3]),
    Number((match[4] ?? '0').padEnd(3, '0')),
  )
}
