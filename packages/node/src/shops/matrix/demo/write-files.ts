import { addDays, type IsoDate, monthNames, toBasic, toDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { isTradingDay, previousTradingDay } from '../calendar/trading-days.ts'
import { draw } from './chance.ts'
import {
  availableOn,
  borrowFeeOn,
  type DemoSecurity,
  failsOn,
  onThresholdList,
  priceOn,
  shortInterestOn,
  shortShareOn,
  squeezePhase,
  volumeOn,
} from './demo-securities.ts'
import { spell } from './spell.ts'
import { zipFile } from './zip-file.ts'

/** A file in exactly the layout its publisher uses. */
export type DemoFile = {
  name: string
  bytes: Buffer
  /** Where the schedule of the publisher says less than the lag of its filings. */
  availableAtMs?: number
}

type Securities = readonly DemoSecurity[]

const file = (name: string, text: string): DemoFile => ({ name, bytes: Buffer.from(text, 'latin1') })

export function shortVolumeFile(securities: Securities, date: IsoDate): DemoFile {
  const day = toDayNumber(date)
  const dateText = toBasic(date)
  const lines = ['Date|Symbol|ShortVolume|ShortExemptVolume|TotalVolume|Market']
  for (const one of securities) {
    const total = Math.round(volumeOn(one, day) * 0.45)
    const short = Math.round(total * shortShareOn(one, day))
    lines.push(`${dateText}|${spell(one.symbol, 'finra')}|${short}|${Math.round(short * 0.01)}|${total}|B,Q,N`)
  }
  return file(`CNMSshvol${toBasic(date)}.txt`, `${lines.join('\r\n')}\r\n${securities.length}\r\n`)
}

export function shortInterestFile(securities: Securities, settlement: IsoDate, before: IsoDate): DemoFile {
  const lines = [
    'accountingYearMonthNumber|symbolCode|issueName|issuerServicesGroupExchangeCode|marketClassCode|currentShortPositionQuantity|previousShortPositionQuantity|stockSplitFlag|averageDailyVolumeQuantity|daysToCoverQuantity|revisionFlag|changePercent|changePreviousNumber|settlementDate',
  ]
  const [day, dayBefore, dateText] = [toDayNumber(settlement), toDayNumber(before), toBasic(settlement)]
  for (const one of securities) {
    const now = shortInterestOn(one, day)
    const previous = shortInterestOn(one, dayBefore)
    const volume = averageVolume(one, day)
    const change = previous > 0 ? (((now - previous) / previous) * 100).toFixed(2) : '0'
    lines.push(
      `${dateText}|${spell(one.symbol, 'finra')}|${one.name.toUpperCase()}|A|${one.exchange === 'Q' ? 'NNM' : 'NYSE'}|${now}|${previous}||${volume}|${Math.max(1, now / volume).toFixed(2)}||${change}|${now - previous}|${settlement}`,
    )
  }
  return file(`shrt${toBasic(settlement)}.csv`, `${lines.join('\n')}\n`)
}

const averageDays = 10

/** Average volume over the days up to a settlement, computed as the publisher does. */
function averageVolume(one: DemoSecurity, day: number): number {
  let sum = 0
  for (let back = 0; back < averageDays; back += 1) sum += volumeOn(one, day - back)
  return Math.max(1, Math.round(sum / averageDays))
}

/** `half` is `2026-10a` or `2026-10b`. */
export function failsFile(securities: Securities, half: string, lastDay: IsoDate): DemoFile {
  const month = half.slice(0, 7)
  const [from, to] = half.endsWith('a')
    ? [`${month}-01`, `${month}-14`]
    : [`${month}-15`, addDays(`${addDays(`${month}-28`, 5).slice(0, 7)}-01`, -1)]
  const lines = ['SETTLEMENT DATE|CUSIP|SYMBOL|QUANTITY (FAILS)|DESCRIPTION|PRICE']
  let sum = 0
  for (let date = from; date <= to && date <= lastDay; date = addDays(date, 1)) {
    if (!isTradingDay(date)) continue
    const day = toDayNumber(date)
    const dayBefore = toDayNumber(previousTradingDay(date))
    const dateText = toBasic(date)
    for (const one of securities) {
      const quantity = failsOn(one, day)
      if (quantity === 0) continue
      sum += quantity
      const price = draw(one.index, day, 30) < 0.01 ? '.' : priceOn(one, dayBefore).toFixed(2)
      lines.push(
        `${dateText}|${one.cusip}|${spell(one.symbol, 'joined')}|${quantity}|${one.name.toUpperCase()}|${price}`,
      )
    }
  }
  const rows = lines.length - 1
  const text = `${lines.join('\n')}\nTrailer record count ${rows}\nTrailer total quantity of shares ${sum}\n`
  const name = `cnsfails${month.replace('-', '')}${half.slice(7)}`
  return { name: `${name}.zip`, bytes: zipFile([{ name: `${name}.txt`, text }]) }
}

export type ListName = 'nasdaq' | 'nyse' | 'cboe'

export function thresholdFile(securities: Securities, list: ListName, date: IsoDate): DemoFile {
  const day = toDayNumber(date)
  const home = { nasdaq: 'Q', nyse: 'N', cboe: 'Z' }[list]
  const members = securities.filter((one) => one.exchange === home && onThresholdList(one, day))
  const names = {
    nasdaq: `nasdaqth${toBasic(date)}.txt`,
    nyse: `threshold-nyse-${date}.txt`,
    cboe: `bzx_equities_reg_sho_threshold_${toBasic(date)}.txt`,
  }
  const header =
    list === 'cboe'
      ? 'Symbol|CompanyName|Reg SHO Threshold Flag'
      : 'Symbol|Security Name|Market Category|Reg SHO Threshold Flag|Rule 3210|Filler'
  const rows = members.map((one) => {
    const symbol = spell(one.symbol, 'nasdaq')
    return list === 'cboe'
      ? `${symbol}|${one.name}|Y`
      : `${symbol}|${one.name.slice(0, 30)}|${list === 'nasdaq' ? 'S' : ''}|Y|N|`
  })
  return file(
    names[list],
    `${[header, ...rows, `${toBasic(date)}${list === 'nasdaq' ? '230000' : '220205'}`].join('\n')}\n`,
  )
}

export function borrowFile(securities: Securities, date: IsoDate, time: string): DemoFile {
  const day = toDayNumber(date)
  const lines = [
    `#BOF|${date.replaceAll('-', '.')}|${time}`,
    '#SYM|CUR|NAME|CON|ISIN|REBATERATE|FEERATE|AVAILABLE|FIGI|',
  ]
  const later = time > '12:00:00'
  for (const one of securities) {
    // By noon a tenth of the supply has moved; the rest is as it was in the morning.
    const moved = later && draw(one.index, day, 31) < 0.1
    const available = Math.floor((availableOn(one, day) * (moved ? 0.8 : 1)) / 100) * 100
    const fee = borrowFeeOn(one, day)
    lines.push(
      `${spell(one.symbol, 'ibkr')}|USD|${one.name.toUpperCase()}|${100_000 + one.index}|XXXXXXX${String(one.index).padStart(5, '0')}|${(3.6 - fee).toFixed(4)}|${fee.toFixed(4)}|${available > 10_000_000 ? '>10000000' : available}|ZZG${String(one.index).padStart(9, '0')}|`,
    )
  }
  return file(
    `usa-${toBasic(date)}-${time.replaceAll(':', '')}.txt`,
    `${lines.join('\n')}\n#EOF|${securities.length}\n`,
  )
}

/** What a vendor of lending and option figures sends the next morning. */
export function fieldsFile(securities: Securities, date: IsoDate): DemoFile {
  const day = toDayNumber(date)
  const published = `${addDays(date, 1)}T12:30:00Z`
  const lines = [
    'ticker,date,published_at,utilisation_pct,lending_fee_pct,implied_volatility_30d_pct,put_call_open_interest',
  ]
  for (const one of securities) {
    const lent = shortInterestOn(one, day)
    const utilisation = (100 * lent) / (lent + availableOn(one, day) + 1)
    const implied = one.dailyMove * (squeezePhase(one, day) === undefined ? 1 : 2.2) * Math.sqrt(252) * 100
    const puts = 0.5 + 2 * one.shortRatio + 0.3 * draw(one.index, day, 37)
    lines.push(
      `${spell(one.symbol, 'sec')},${date},${published},${utilisation.toFixed(2)},${(borrowFeeOn(one, day) * 1.1).toFixed(4)},${implied.toFixed(2)},${puts.toFixed(3)}`,
    )
  }
  return file(`fields-${toBasic(date)}.csv`, `${lines.join('\n')}\n`)
}

export function haltsFile(securities: Securities, date: IsoDate): DemoFile {
  const day = toDayNumber(date)
  const american = `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`
  const items = securities
    .filter((one) => {
      const phase = squeezePhase(one, day)
      return (
        (phase !== undefined && phase > 0.05 && phase < 0.45 && draw(one.index, day, 32) < 0.5) ||
        draw(one.index, day, 33) < 0.002
      )
    })
    .map((one) => {
      const minute = Math.floor(draw(one.index, day, 34) * 300)
      const clock = (offset: number) => {
        const at = 575 + minute + offset
        return `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}:07`
      }
      const symbol = spell(one.symbol, 'nasdaq')
      return `<item><title>${symbol}</title><ndaq:HaltDate>${american}</ndaq:HaltDate><ndaq:HaltTime>${clock(0)}.120</ndaq:HaltTime><ndaq:IssueSymbol>${symbol}</ndaq:IssueSymbol><ndaq:IssueName>${one.name}</ndaq:IssueName><ndaq:Market>${one.exchange === 'Q' ? 'NASDAQ' : 'NYSE'}</ndaq:Market><ndaq:ReasonCode>${squeezePhase(one, day) === undefined ? 'T1' : 'LUDP'}</ndaq:ReasonCode><ndaq:PauseThresholdPrice /><ndaq:ResumptionDate>${american}</ndaq:ResumptionDate><ndaq:ResumptionQuoteTime>${clock(0)}</ndaq:ResumptionQuoteTime><ndaq:ResumptionTradeTime>${clock(5)}</ndaq:ResumptionTradeTime><description><![CDATA[<table></table>]]></description></item>`
    })
  const published = `${date}T21:30:00Z`
  return file(
    `tradehalts-${toBasic(date)}.xml`,
    `\u00ef\u00bb\u00bf<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:ndaq="http://www.nasdaqtrader.com/"><channel><title>NASDAQTrader.com</title><pubDate>${new Date(published).toUTCString()}</pubDate><ttl>1</ttl><ndaq:numItems>${items.length}</ndaq:numItems>${items.join('\n')}</channel></rss>\n`,
  )
}

const companies = (securities: Securities) =>
  securities.filter(
    (one) => (one.kind === 'share' || one.kind === 'adr' || one.kind === 'etf') && !one.symbol.includes('.'),
  )

/** Cover pages state the shares a few weeks after the quarter; the frame is whole once the quarter is filed for. */
export const [coverDays, coversFiledDays] = [28, 41]

export function framesFile(securities: Securities, quarter: string, quarterEnd: IsoDate): DemoFile {
  const end = addDays(quarterEnd, coverDays)
  const data = companies(securities).map((one) => ({
    accn: `${String(one.cik).padStart(10, '0')}-${end.slice(2, 4)}-${String(one.index).padStart(6, '0')}`,
    cik: one.cik,
    entityName: one.name,
    loc: 'US-DE',
    end,
    val: one.shares,
  }))
  const document = {
    taxonomy: 'dei',
    tag: 'EntityCommonStockSharesOutstanding',
    ccp: quarter,
    uom: 'shares',
    label: 'Entity Common Stock, Shares Outstanding',
    pts: data.length,
    data,
  }
  return {
    ...file(`frames-shares-${quarter}.json`, JSON.stringify(document)),
    availableAtMs: easternToUtcMs(addDays(quarterEnd, coversFiledDays), 6),
  }
}

export function tickersFile(securities: Securities, date: IsoDate): DemoFile {
  const data = securities
    .filter((one) => !one.symbol.endsWith('.B'))
    .map((one) => [one.cik, one.name, spell(one.symbol, 'sec'), one.exchange === 'Q' ? 'Nasdaq' : 'NYSE'])
  return file(
    `company_tickers_exchange.${toBasic(date)}.json`,
    JSON.stringify({ fields: ['cik', 'name', 'ticker', 'exchange'], data }),
  )
}

export function directoryFiles(securities: Securities, date: IsoDate): DemoFile[] {
  const stamp = `File Creation Time: ${date.slice(5, 7)}${date.slice(8)}${date.slice(0, 4)}08:01`
  const etf = (one: DemoSecurity) => (one.kind === 'etf' ? 'Y' : 'N')
  const nasdaq = securities
    .filter((one) => one.exchange === 'Q')
    .map((one) => `${spell(one.symbol, 'nasdaq')}|${one.name}|G|N|N|100|${etf(one)}|N`)
  const others = securities
    .filter((one) => one.exchange !== 'Q')
    .map(
      (one) =>
        `${spell(one.symbol, 'nasdaq')}|${one.name}|${one.exchange}|${spell(one.symbol, 'finra')}|${etf(one)}|100|N|${spell(one.symbol, 'nasdaq')}`,
    )
  return [
    file(
      'nasdaqlisted.txt',
      `${['Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares', 'ZZTST|Synthetic Test Symbol|G|Y|N|100|N|N', ...nasdaq, `${stamp}|||||||`].join('\r\n')}\r\n`,
    ),
    file(
      'otherlisted.txt',
      `${['ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol', ...others, `${stamp}|||||||`].join('\r\n')}\r\n`,
    ),
  ]
}

export function priceFile(securities: Securities, date: IsoDate): DemoFile {
  const day = toDayNumber(date)
  const lines = ['ticker,date,open,high,low,close,volume']
  for (const one of securities) {
    const close = priceOn(one, day)
    const span = close * one.dailyMove
    lines.push(
      `${spell(one.symbol, 'sec')},${date},${(close - span * 0.2).toFixed(4)},${(close + span * 0.6).toFixed(4)},${(close - span * 0.6).toFixed(4)},${close.toFixed(4)},${volumeOn(one, day)}`,
    )
  }
  return file(`prices-${toBasic(date)}.csv`, `${lines.join('\n')}\n`)
}

const filers = 40
/** Holdings are due 45 days after the quarter. */
export const holdingsDays = 47

/** `quarterEnd` such as 2026-09-30; the set carries the filings of the three months around its deadline. */
export function holdingsFile(securities: Securities, quarterEnd: IsoDate): DemoFile {
  const named = (date: IsoDate) => `${date.slice(8)}-${monthNames[Number(date.slice(5, 7)) - 1]}-${date.slice(0, 4)}`
  const filed = addDays(quarterEnd, 44)
  const accession = (filer: number) =>
    `${String(8_000_000 + filer).padStart(10, '0')}-${filed.slice(2, 4)}-${String(filer).padStart(6, '0')}`
  const submissions = ['ACCESSION_NUMBER\tFILING_DATE\tSUBMISSIONTYPE\tCIK\tPERIODOFREPORT']
  const infos = [
    'ACCESSION_NUMBER\tINFOTABLE_SK\tNAMEOFISSUER\tTITLEOFCLASS\tCUSIP\tFIGI\tVALUE\tSSHPRNAMT\tSSHPRNAMTTYPE\tPUTCALL\tINVESTMENTDISCRETION',
  ]
  const day = toDayNumber(quarterEnd)
  const prices = securities.map((one) => priceOn(one, day))
  for (let filer = 0; filer < filers; filer += 1) {
    submissions.push(
      `${accession(filer)}\t${named(filed)}\t13F-HR\t${String(8_000_000 + filer).padStart(10, '0')}\t${named(quarterEnd)}`,
    )
    for (const [position, one] of securities.entries()) {
      if (draw(one.index, filer, 35) > 0.15) continue
      const held = Math.floor(one.shares * 0.1 * draw(one.index, filer, 36))
      infos.push(
        `${accession(filer)}\t${filer}${one.index}\t${one.name}\tCOM\t${one.cusip}\t\t${Math.round(held * (prices[position] as number))}\t${held}\tSH\t\tSOLE`,
      )
    }
  }
  const label = (date: IsoDate) =>
    `${date.slice(8)}${(monthNames[Number(date.slice(5, 7)) - 1] as string).toLowerCase()}${date.slice(0, 4)}`
  const from = `${addDays(quarterEnd, 10).slice(0, 7)}-01`
  return {
    name: `${label(from)}-${label(addDays(from, 91))}_form13f.zip`,
    availableAtMs: easternToUtcMs(addDays(quarterEnd, holdingsDays), 6),
    bytes: zipFile([
      { name: 'SUBMISSION.tsv', text: `${submissions.join('\n')}\n` },
      { name: 'INFOTABLE.tsv', text: `${infos.join('\n')}\n` },
    ]),
  }
}
