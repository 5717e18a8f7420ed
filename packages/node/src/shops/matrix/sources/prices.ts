import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { refuse } from '../reading/refused.ts'
import { collectBars } from './prices/collect-bars.ts'
import { priceFormats } from './prices/formats.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

/** Daily bars from the party that the operator has them from: no licensed price source is chosen for the node. */
export const prices: Source = {
  id: 'prices',
  title: 'Daily prices supplied by the operator',
  publisher: 'the operator',
  dataset: 'prices',
  urlPattern: 'prices*.csv, or what PRICE_SOURCE names',
  schedule: { cadence: 'as the operator supplies it', graceMs: 4 * 86_400_000, due: () => [] },
  minRequestIntervalMs: 0,
  licence: licences.operator,
  seen: 'published files',
  bytesMax: 128 * 1024 * 1024,
  recognises: (name, head) => priceFormats.some((format) => format.recognises(name, head)),
  parse: parsePrices,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 17),
}

export function parsePrices(file: RawFile): ParsedFile {
  const head = Buffer.from(file.bytes.subarray(0, 512))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
  const format =
    priceFormats.find(({ recognises }) => recognises(file.name, head)) ??
    refuse('header', 'neither the name nor the beginning is of a known price format')
  return collectBars(file, format)
}
