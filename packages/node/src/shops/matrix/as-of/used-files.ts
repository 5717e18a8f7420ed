import { halvesWanted } from '../sources/sec-fails.ts'
import type { SourceId } from '../sources/source.ts'
import { factorDays, listDays } from '../sources/trading-day-files.ts'
import type { FileRecord } from '../store/files.ts'
import type { FileCache } from './file-cache.ts'

export const ratioDaysUsed = factorDays
export const volatilityDays = factorDays

/** How many of the newest files of a source a view is made of; of several parts, so many of each. */
const filesUsed: Record<SourceId, number> = {
  // The newest day and those it is compared with.
  'finra-short-volume': ratioDaysUsed + 1,
  prices: volatilityDays + 1,
  actions: 400,
  'finra-short-interest': 1,
  'sec-fails': halvesWanted,
  'nasdaq-threshold': listDays,
  'nyse-threshold': listDays,
  'cboe-threshold': listDays,
  // The newest of each vendor.
  'vendor-fields': 1,
  'ibkr-borrow': Number.POSITIVE_INFINITY,
  'nasdaq-halts': 40,
  'sec-shares': 400,
  'sec-tickers': 1,
  'sec-13f': 1,
  'nasdaq-directory': 1,
}

/** Where every file is its own part, or any part will do, parts are not counted apart. */
const byPart: ReadonlySet<SourceId> = new Set([
  'nasdaq-threshold',
  'nyse-threshold',
  'cboe-threshold',
  'nasdaq-directory',
  'vendor-fields',
])

/**
 * The files a view of this moment is made of, newest first. Nothing else may be read for it: from these files alone the
 * same bytes come again, and while they stay the same nothing has to be made again.
 */
export function usedFiles(fileCache: FileCache, source: SourceId, knownAtMs: number): readonly FileRecord[] {
  const known = fileCache.known(source, knownAtMs)
  if (source === 'finra-short-volume') return known.filter((file) => file.part === 'CNMS').slice(0, filesUsed[source])
  // The first file of a day is whole, the others are changes to it.
  if (source === 'ibkr-borrow') return known.filter((file) => file.asOf === known[0]?.asOf)
  if (!byPart.has(source)) return known.slice(0, filesUsed[source])
  const parts = [...new Set(known.map(({ part }) => part))].sort()
  return parts.flatMap((part) => known.filter((file) => file.part === part).slice(0, filesUsed[source]))
}
