import { readFileSync } from 'node:fs'
import { type IsoDate, toBasic } from '../calendar/dates.ts'
import type { PriceFormat } from '../sources/prices/collect-bars.ts'
import { priceFormats } from '../sources/prices/formats.ts'

/** A vendor of daily bars. Its addresses are written down and shown without the key, which is added for the request alone. */
export type PriceSource = {
  format: PriceFormat
  /** Who is asked, for messages and for the pause between requests. */
  host: string
  /** Of one day, without the key. */
  url(date: IsoDate): string
  /** The same with the key: never stored, logged or shown. */
  keyed(url: string): string
  key: string | undefined
}

type Given = {
  PRICE_SOURCE?: string | undefined
  PRICE_SOURCE_KEY?: string | undefined
  PRICE_SOURCE_KEY_FILE?: string | undefined
}

/** `polygon`, or `stooq https://host/path?d={yyyymmdd}`. No problem names the key. */
export function parsePriceSource(given: Given, problems: string[]): PriceSource | undefined {
  const key = readKey(given, problems)
  if (given.PRICE_SOURCE === undefined) {
    if (key !== undefined) problems.push('PRICE_SOURCE: missing, PRICE_SOURCE_KEY is for it')
    return undefined
  }
  const [word = '', address, ...rest] = given.PRICE_SOURCE.trim().split(/\s+/)
  const format = priceFormats.find(({ id }) => id === word)
  if (format === undefined || rest.length > 0) {
    problems.push(
      `PRICE_SOURCE: must be one of ${priceFormats.map(({ id }) => id).join(', ')}, and an address behind it`,
    )
    return undefined
  }
  const template = address ?? format.url
  const fault = template === undefined ? `${word} needs the address of one day behind it` : faultOf(template)
  if (template === undefined || fault !== undefined) {
    problems.push(`PRICE_SOURCE: ${fault}`)
    return undefined
  }
  if (address === undefined && key === undefined) problems.push(`PRICE_SOURCE_KEY: missing, ${word} asks for one`)
  return priceSource(format, template, key)
}

function priceSource(format: PriceFormat, template: string, key: string | undefined): PriceSource {
  return {
    format,
    host: new URL(template).hostname,
    url: (date) => template.replaceAll('{date}', date).replaceAll('{yyyymmdd}', toBasic(date)),
    keyed: (url) => {
      if (key === undefined) return url
      const full = new URL(url)
      full.searchParams.set(format.keyParameter, key)
      return full.href
    },
    key,
  }
}

function faultOf(template: string): string | undefined {
  if (!URL.canParse(template) || new URL(template).protocol !== 'https:') return 'its address must be an https URL'
  if (!/\{date\}|\{yyyymmdd\}/.test(template)) return 'its address must have {date} or {yyyymmdd} in it'
  // The address is shown and stored.
  if (/[?&](api_?key|api_token|token|access_token)=/i.test(template))
    return 'its address must not hold the key; set PRICE_SOURCE_KEY'
  return undefined
}

function readKey(given: Given, problems: string[]): string | undefined {
  const { PRICE_SOURCE_KEY: text, PRICE_SOURCE_KEY_FILE: file } = given
  let key = text
  try {
    key ??= file === undefined ? undefined : readFileSync(file, 'utf8')
  } catch {
    problems.push(`PRICE_SOURCE_KEY_FILE: cannot be read: ${file}`)
  }
  key = key?.trim()
  if (key !== undefined && !/^[\x21-\x7e]{8,512}$/.test(key)) {
    problems.push('PRICE_SOURCE_KEY: must have 8 to 512 visible characters without spaces')
    return undefined
  }
  return key
}
