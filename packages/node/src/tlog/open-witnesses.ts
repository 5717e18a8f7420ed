import type { ShopContext } from '../http/index.ts'
import type { MarketSettings } from '../shops/attestations/settings.ts'
import { configuredWitness, openDemoWitnesses, type TransparencyLog, type WitnessPeer } from './index.ts'

/** The witnesses of the log: those that the settings name, and in a demo two more. */
export async function openWitnesses(
  { database, clock, rng, mode }: Pick<ShopContext, 'database' | 'clock' | 'rng' | 'mode'>,
  tree: TransparencyLog,
  settings: Pick<MarketSettings, 'witnesses'>,
): Promise<readonly WitnessPeer[]> {
  return [
    ...settings.witnesses.map(configuredWitness),
    ...(mode === 'demo' ? await openDemoWitnesses({ database, clock, rng }, tree.origin, tree.keys) : []),
  ]
}
