import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import type { Database, Sql } from '@assay/till/store/database'
import { createFileCache } from '../as-of/file-cache.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { parseMatrixSettings } from '../settings.ts'
import type { SourceId } from '../sources/source.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { coverageOf, type SourceCoverage } from './coverage.ts'
import type { FetchDeps } from './fetch-file.ts'
import { type FetchPlan, fetchPlans, planOf } from './fetch-plan.ts'
import { createLastFetches } from './fetch-state.ts'
import { officialOutbound } from './official-outbound.ts'

/** As far as the import is configured. */
export type ImportConfig = {
  mode: 'demo' | 'production'
  contactEmail: string
  values: Readonly<Record<string, unknown>>
}

const settingsOf = ({ mode, values }: ImportConfig) => parseMatrixSettings(values, { demo: mode === 'demo' })

/** The import outside of a running node, for the operator's commands. */
export function openMarketImport(
  config: ImportConfig,
  database: Database,
): { deps: FetchDeps; plans: FetchPlan[]; planOf(id: SourceId): FetchPlan } {
  const { mode, contactEmail: contact } = config
  const ports = { clock: systemClock, rng: systemRng, log: silentLog, metrics: silentMetrics }
  const settings = settingsOf(config)
  return {
    deps: {
      database,
      clock: systemClock,
      symbols: createSymbolTable(),
      outbound: officialOutbound({ ...ports, mode, contact }),
    },
    plans: fetchPlans(settings),
    planOf: (id) => planOf(id, settings),
  }
}

export async function readMarketCoverage(config: ImportConfig, sql: Sql): Promise<SourceCoverage[]> {
  const settings = settingsOf(config)
  const [fileCache, looks] = [createFileCache(), createLastFetches(sql)]
  await Promise.all([fileCache.refresh(sql), looks.refresh()])
  const licences = createLicencePolicy({ demo: config.mode === 'demo', assertions: settings.assertions })
  return coverageOf({ fileCache, licences, plans: fetchPlans(settings), clock: systemClock }, looks.last())
}
