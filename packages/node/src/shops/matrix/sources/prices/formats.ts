import type { PriceFormat } from './collect-bars.ts'
import { eodhd } from './eodhd.ts'
import { ownCsv } from './own-csv.ts'
import { polygon } from './polygon.ts'
import { stooq } from './stooq.ts'

/** A further vendor is a file in this folder and a line here. */
export const priceFormats: readonly PriceFormat[] = [stooq, polygon, eodhd, ownCsv]
