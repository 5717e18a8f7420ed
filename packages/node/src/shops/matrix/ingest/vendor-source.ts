import { readFileSync } from 'node:fs'
import { type IsoDate, toBasic } from '../calendar/dates.ts'

/** How one vendor answers for a day. */
export type VendorFormat = {
  id: string
  /** Address of one day, `{date}` or `{yyyymmdd}` in it; absent where the operator must name it. */
  url?: string
  /** Parameter of the query that carries the key. */
  keyParameter: string
  extension: 'csv' | 'json' | 'txt'
}

/** A vendor of daily figures. Its addresses are written down and shown without the key, which is added for the request alone. */
export type VendorSource = {
  format: VendorFormat
  /** Who is asked, for messages and for the pause between requests. */
  host: string
  /** Of one day, without the key. */
  url(date: IsoDate): string
  /** The same with the key: never stored, logged or shown. */
  keyed(url: string): string
  key: string | undefined
}

type Setting = 'PRICE_SOURCE' | 'FIELDS_SOURCE'
export type VendorVariables = { [Name in Setting | `${Setting}_KEY` | `${Setting}_KEY_FILE`]?: string | undefined }

/** `polygon`, or `stooq https://host/path?d={yyyymmdd}`. No problem names the key. */
export function parseVendorSource(
  setting: Setting,
  formats: readonly VendorFormat[],
  given: VendorVariables,
  problems: string[],
): VendorSource | undefined {
  const key = readKey(setting, given, problems)
  const text = given[setting]
  if (text === undefined) {
    if (key !== undefined) problems.push(`${setting}: missing, ${setting}_KEY is for it`)
    return undefined
  }
  const [word = '', address, ...rest] = text.trim().split(/\s+/)
  const format = formats.find(({ id }) => id === word)
  if (format === undefined || rest.length > 0) {
    problems.push(`${setting}: must be one of ${formats.map(({ id }) => id).join(', ')}, and an address behind it`)
    return undefined
  }
  const template = address ?? format.url
  const fault = template === undefined ? `${word} needs the address of one day behind it` : faultOf(setting, template)
  if (template === undefined || fault !== undefined) {
    problems.push(`${setting}: ${fault}`)
    return undefined
  }
  if (address === undefined && key === undefined) problems.push(`${setting}_KEY: missing, ${word} asks for one`)
  return vendorSource(format, template, key)
}

function vendorSource(format: VendorFormat, template: string, key: string | undefined): VendorSource {
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

function faultOf(setting: Setting, template: string): string | undefined {
  if (!URL.canParse(template) || new URL(template).protocol !== 'https:') return 'its address must be an https URL'
  if (!/\{date\}|\{yyyymmdd\}/.test(template)) return 'its address must have {date} or {yyyymmdd} in it'
  // The address is shown and stored.
  if (/[?&](api_?key|api_token|token|access_token)=/i.test(template))
    return `its address must not hold the key; set ${setting}_KEY`
  return undefined
}

function readKey(setting: Setting, given: VendorVariables, problems: string[]): string | undefined {
  const file = given[`${setting}_KEY_FILE`]
  let key = given[`${setting}_KEY`]
  try {
    key ??= file === undefined ? undefined : readFileSync(file, 'utf8')
  } catch {
    problems.push(`${setting}_KEY_FILE: cannot be read: ${file}`)
  }
  key = key?.trim()
  if (key !== undefined && !/^[\x21-\x7e]{8,512}$/.test(key)) {
    problems.push(`${setting}_KEY: must have 8 to 512 visible characters without spaces`)
    return undefined
  }
  return key
}
