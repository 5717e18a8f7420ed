import { readFileSync } from 'node:fs'
import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, SettingsError, type Variables } from '../../http/index.ts'
import type { LicenceAssertion } from './licences/gate.ts'
import { readAssertions } from './licences/read-assertions.ts'
import { sources } from './sources/catalogue.ts'
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
      'Licences for market data that the operator holds: JSON, or the path of a JSON file; docs/matrix.md shows the form. Without an entry a source whose terms forbid charging stays out of what is sold.',
    secret: false,
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
  assertions: readonly LicenceAssertion[]
}

const price = z.string().transform((text, context) => {
  const micro = parseUsd(text)
  if (micro === undefined || micro === 0n) context.addIssue({ code: 'custom', message: 'must be decimal USD above 0' })
  return micro ?? 0n
})
const ids = sources.map((source) => source.id) as [SourceId, ...SourceId[]]

const schema = z.strictObject({
  live_usd: price.default(50_000n),
  vip_usd: price.default(250_000n),
  delay_minutes: z.number().min(0).max(100_000).default(65),
  connections: z.number().int().min(1).max(20_000).default(5),
  demo: z.enum(['full', 'small', 'off']).default('full'),
  fetch: z.union([z.literal('all'), z.array(z.enum(ids))]).default([]),
})

/** From the JSON of `MATRIX` and the text of `LICENCES`. */
export function parseMatrixSettings(given: unknown = {}, licences?: string): MatrixSettings {
  const asserted = licences === undefined ? { assertions: [], problems: [] } : readAssertions(licenceText(licences))
  const data = parseMembers('MATRIX', schema, given)
  if (asserted.problems.length > 0) throw new SettingsError(asserted.problems)
  return {
    liveMicro: data.live_usd,
    vipMicro: data.vip_usd,
    delayMs: data.delay_minutes * 60_000,
    connections: data.connections,
    demo: data.demo,
    fetch: data.fetch === 'all' ? ids.filter((id) => id !== 'ibkr-borrow' && id !== 'prices') : data.fetch,
    assertions: asserted.assertions,
  }
}

function licenceText(licences: string): string {
  if (licences.trimStart().startsWith('[')) return licences
  try {
    return readFileSync(licences, 'utf8')
  } catch {
    throw new SettingsError([`LICENCES: cannot be read: ${licences}`])
  }
}
