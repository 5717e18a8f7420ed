import { readFileSync } from 'node:fs'
import type { Micro } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, SettingsError, usdAboveZero, type Values, type Variables } from '../shop-settings.ts'
import { parseVendorSource, type VendorSource } from './ingest/vendor-source.ts'
import type { LicenceAssertion } from './licences/licence-policy.ts'
import { readAssertions } from './licences/read-assertions.ts'
import { sources } from './sources/catalogue.ts'
import { priceFormats } from './sources/prices/formats.ts'
import type { SourceId } from './sources/source.ts'

export const matrixVariables = {
  MATRIX: {
    kind: 'json',
    default: '{}',
    description: 'JSON object with settings of the market data shop; docs/matrix.md lists them.',
    secret: false,
  },
  LICENCES: {
    kind: 'text',
    description:
      'Licences for market data that the operator holds, one line for each source, or the path of a file with them; docs/matrix.md shows the form. A source with a line is fetched. Without one a source whose terms forbid charging stays out of what is sold.',
    secret: false,
  },
  PRICE_SOURCE: {
    kind: 'text',
    description:
      'Where daily prices are fetched: `polygon`, `eodhd`, `stooq` or `csv`, and behind it the https address of one day with `{date}` or `{yyyymmdd}` in it where it is not the usual one. Needs a line for `prices` in `LICENCES`; docs/matrix.md.',
    secret: false,
  },
  PRICE_SOURCE_KEY: {
    kind: 'text',
    description: 'Key for `PRICE_SOURCE`.',
    secret: true,
  },
  PRICE_SOURCE_KEY_FILE: {
    kind: 'text',
    description: 'A file with the same, instead of the environment.',
    secret: true,
  },
  FIELDS_SOURCE: {
    kind: 'text',
    description:
      'Where utilisation, borrow fees and option figures of a licensed vendor are fetched: `csv` and behind it the https address of one day with `{date}` or `{yyyymmdd}` in it. Needs a line for `vendor-fields` in `LICENCES`; docs/matrix.md.',
    secret: false,
  },
  FIELDS_SOURCE_KEY: {
    kind: 'text',
    description: 'Key for `FIELDS_SOURCE`.',
    secret: true,
  },
  FIELDS_SOURCE_KEY_FILE: {
    kind: 'text',
    description: 'A file with the same, instead of the environment.',
    secret: true,
  },
} as const satisfies Variables

export type MatrixSettings = {
  liveMicro: Micro
  vipMicro: Micro
  delayMs: number
  /** Open streams of a subscription, in all processes together. */
  connections: number
  /** How much demo data a demo node makes. */
  demo: 'full' | 'small' | 'off'
  /** Sources the node fetches by itself, by their schedule. */
  fetch: readonly SourceId[]
  /** Where daily prices come from, if anywhere. */
  prices: VendorSource | undefined
  /** Where lending and option figures come from, if anywhere. */
  fields: VendorSource | undefined
  assertions: readonly LicenceAssertion[]
}

const ids = sources.map((source) => source.id) as [SourceId, ...SourceId[]]

const schema = z.strictObject({
  live_usd: usdAboveZero.default(50_000n),
  vip_usd: usdAboveZero.default(250_000n),
  delay_minutes: z.number().min(0).max(100_000).default(65),
  connections: z.number().int().min(1).max(20_000).default(5),
  demo: z.enum(['full', 'small', 'off']).default('full'),
  fetch: z.union([z.literal('all'), z.array(z.enum(ids))]).optional(),
})

const fieldFormats = [{ id: 'csv', keyParameter: 'apikey', extension: 'csv' }] as const

type Given = Partial<Values<typeof matrixVariables>>

/** From the values of the variables above. */
export function parseMatrixSettings(given: Given, node: { demo: boolean }): MatrixSettings {
  const data = parseMembers('MATRIX', schema, given.MATRIX)
  const { assertions, problems } =
    given.LICENCES === undefined ? { assertions: [], problems: [] } : readAssertions(licenceText(given.LICENCES))
  const prices = parseVendorSource('PRICE_SOURCE', priceFormats, given, problems)
  const fields = parseVendorSource('FIELDS_SOURCE', fieldFormats, given, problems)
  const vendors: Partial<Record<SourceId, boolean>> = {
    prices: prices !== undefined,
    'vendor-fields': fields !== undefined,
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return {
    liveMicro: data.live_usd,
    vipMicro: data.vip_usd,
    delayMs: data.delay_minutes * 60_000,
    connections: data.connections,
    demo: data.demo,
    fetch: fetched(data.fetch, assertions, node).filter((id) => vendors[id] ?? true),
    prices,
    fields,
    assertions,
  }
}

/** Default: what may be sold without a licence, and what a licence is asserted for. A demo node asks nobody. */
function fetched(
  given: 'all' | readonly SourceId[] | undefined,
  assertions: readonly LicenceAssertion[],
  { demo }: { demo: boolean },
): readonly SourceId[] {
  // The list of splits comes from the operator, not from an address.
  const published = sources.filter(({ id }) => id !== 'actions')
  const asserted = (id: SourceId) => assertions.some(({ source }) => source === id)
  if (given === 'all')
    return published.filter(({ id, licence }) => licence.free === 'yes' || asserted(id)).map(({ id }) => id)
  if (given !== undefined) return given
  if (demo) return []
  return published.filter(({ id, licence }) => licence.commercial === 'yes' || asserted(id)).map(({ id }) => id)
}

function licenceText(licences: string): string {
  if (/^\s*\[/.test(licences) || licences.includes('|')) return licences
  try {
    return readFileSync(licences, 'utf8')
  } catch {
    throw new SettingsError([`LICENCES: cannot be read: ${licences}`])
  }
}
