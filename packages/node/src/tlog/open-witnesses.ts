import type { Clock } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import type { Database } from '@assay/till/store/database'
import type { WitnessPeer } from './collect-cosignatures.ts'
import { openDemoWitnesses } from './demo-witnesses.ts'
import type { TransparencyLog } from './open-log.ts'
import type { LogSettings } from './settings.ts'
import { configuredWitness } from './witness-adapter.ts'

/** The witnesses of the log: those that the settings name, and in a demo two more. */
export async function openWitnesses(
  { database, clock, rng, mode }: { database: Database; clock: Clock; rng: Rng; mode: 'demo' | 'production' },
  tree: TransparencyLog,
  settings: Pick<LogSettings, 'witnesses'>,
): Promise<readonly WitnessPeer[]> {
  const own = mode === 'demo' ? await openDemoWitnesses({ database, clock, rng }, tree) : []
  return [...settings.witnesses.map(configuredWitness), ...own.map((witness) => ({ ...witness, inside: true }))]
}
