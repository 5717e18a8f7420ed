import { refuse } from '../reading/refused.ts'
import { cboeThreshold } from './cboe-threshold.ts'
import { corporateActions } from './corporate-actions.ts'
import { finraShortInterest } from './finra-short-interest.ts'
import { finraShortVolume } from './finra-short-volume.ts'
import { ibkrBorrow } from './ibkr-borrow.ts'
import { nasdaqDirectory } from './nasdaq-directory.ts'
import { nasdaqHalts } from './nasdaq-halts.ts'
import { nasdaqThreshold } from './nasdaq-threshold.ts'
import { nyseThreshold } from './nyse-threshold.ts'
import { prices } from './prices.ts'
import { sec13f } from './sec-13f.ts'
import { secFails } from './sec-fails.ts'
import { secShares } from './sec-shares.ts'
import { secTickers } from './sec-tickers.ts'
import type { Source, SourceId } from './source.ts'
import { vendorFields } from './vendor-fields.ts'

export const sources: readonly Source[] = [
  finraShortVolume,
  finraShortInterest,
  secFails,
  nasdaqThreshold,
  nyseThreshold,
  cboeThreshold,
  ibkrBorrow,
  nasdaqHalts,
  secShares,
  secTickers,
  sec13f,
  nasdaqDirectory,
  prices,
  corporateActions,
  vendorFields,
]

const byId = new Map(sources.map((source) => [source.id, source]))

export function sourceOf(id: SourceId): Source {
  return byId.get(id) ?? refuse('unknown_format', `there is no source ${id}`)
}

/** Announced by the regulator and not published before 2028: a slot, so that nobody takes an offer of it for real. */
export const unpublishedSources = [
  { id: 'sec-form-sho', title: 'Form SHO (Rule 13f-2)', status: 'not_published', expected: '2028-02-14' },
  { id: 'finra-slate', title: 'SLATE securities loans (Rule 10c-1a)', status: 'not_published', expected: '2029-03-29' },
] as const

/** Which format a file is, by its name and then by its first characters. */
export function recogniseSource(name: string, bytes: Uint8Array): Source {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_048))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
  return (
    sources.find((source) => source.recognises(name, head)) ??
    refuse('unknown_format', 'neither the name nor the beginning of this file is of a known format')
  )
}
