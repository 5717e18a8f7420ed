import type { SourceId } from '../sources/source.ts'
import { createDemoSecurities } from './demo-securities.ts'
import {
  borrowFile,
  type DemoFile,
  directoryFiles,
  failsFile,
  fieldsFile,
  framesFile,
  haltsFile,
  holdingsFile,
  priceFile,
  shortInterestFile,
  shortVolumeFile,
  thresholdFile,
  tickersFile,
} from './write-files.ts'

/** A moment after every sample became public. */
export const sampleNowMs = Date.parse('2026-11-15T12:00:00Z')

const securities = createDemoSecurities(150)

/** One small file of each format. */
export const sampleFiles: readonly { source: SourceId; file: DemoFile }[] = [
  { source: 'finra-short-volume', file: shortVolumeFile(securities, '2026-11-12') },
  { source: 'finra-short-interest', file: shortInterestFile(securities, '2026-10-30', '2026-10-15') },
  { source: 'sec-fails', file: failsFile(securities, '2026-10a', '2026-11-12') },
  { source: 'nasdaq-threshold', file: thresholdFile(createDemoSecurities(3_000), 'nasdaq', '2026-11-12') },
  { source: 'nyse-threshold', file: thresholdFile(createDemoSecurities(3_000), 'nyse', '2026-11-12') },
  { source: 'cboe-threshold', file: thresholdFile(securities, 'cboe', '2026-11-12') },
  { source: 'ibkr-borrow', file: borrowFile(securities, '2026-11-12', '09:15:00') },
  { source: 'nasdaq-halts', file: haltsFile(createDemoSecurities(3_000), '2026-11-12') },
  { source: 'sec-shares', file: framesFile(securities, 'CY2026Q2I', '2026-06-30') },
  { source: 'sec-tickers', file: tickersFile(securities, '2026-11-12') },
  { source: 'sec-13f', file: holdingsFile(securities, '2026-06-30') },
  { source: 'nasdaq-directory', file: directoryFiles(securities, '2026-11-12')[0] as DemoFile },
  { source: 'nasdaq-directory', file: directoryFiles(securities, '2026-11-12')[1] as DemoFile },
  { source: 'prices', file: priceFile(securities, '2026-11-12') },
  { source: 'vendor-fields', file: fieldsFile(securities, '2026-11-12') },
]
