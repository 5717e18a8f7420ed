import type { IsoDate } from '../calendar/dates.ts'
import type { LicenceRecord } from '../licences/licence.ts'
import type { RowSet } from './row-set.ts'

export type DatasetId =
  | 'short_volume'
  | 'short_interest'
  | 'fails'
  | 'threshold'
  | 'borrow'
  | 'halts'
  | 'shares'
  | 'tickers'
  | 'holdings'
  | 'listings'
  | 'prices'
  | 'actions'
  | 'fields'

export type SourceId =
  | 'finra-short-volume'
  | 'finra-short-interest'
  | 'sec-fails'
  | 'nasdaq-threshold'
  | 'nyse-threshold'
  | 'cboe-threshold'
  | 'ibkr-borrow'
  | 'nasdaq-halts'
  | 'sec-shares'
  | 'sec-tickers'
  | 'sec-13f'
  | 'nasdaq-directory'
  | 'prices'
  | 'actions'
  | 'vendor-fields'

/** A file as it came, before anything is believed. */
export type RawFile = { name: string; bytes: Uint8Array; nowMs: number }

export type ParsedFile = {
  /** Which of several like files this is: the facility, the exchange, the directory. */
  part: string
  /** What the file covers; a second file for the same part and period is a revision of the first. */
  period: string
  /** The newest date in it. */
  asOf: IsoDate
  /** When the file itself says it was made. */
  stampedAtMs?: number
  rows: RowSet
  /** Rows that are well formed and still not used, by reason. */
  skipped: Record<string, number>
}

export type Schedule = {
  cadence: string
  /** Files that should exist by now, newest first, with the moment each was due. */
  due(nowMs: number): readonly DueFile[]
  /** Files about the days from one to another, newest first. Absent where the publisher keeps no past. */
  files?(from: IsoDate, to: IsoDate): readonly DueFile[]
  /** Where the same address brings something new within the day: how long after a fetch the next one is worth it. */
  refetchMs?: number
  /** How late a file may be before what is built on it is called stale. */
  graceMs: number
}

export type DueFile = { url: string; name: string; period: string; dueAtMs: number }

export type Source = {
  id: SourceId
  title: string
  publisher: string
  dataset: DatasetId
  urlPattern: string
  schedule: Schedule
  /** Least time between two requests to this publisher. */
  minRequestIntervalMs: number
  licence: LicenceRecord
  /** Published files were parsed, or only the documented layout is known. */
  seen: 'published files' | 'documented layout'
  bytesMax: number
  /** By the file's name, or by how its text begins. */
  recognises(name: string, head: string): boolean
  parse(file: RawFile): ParsedFile
  /** When a file for this period is public at the latest, for files that come without any stamp. */
  latestPublicationMs(parsed: { period: string; asOf: IsoDate }): number
}
