import { recordRefusedPayers } from '../facilitators/index.ts'
import { type Owner, registerOwner } from '../gate/owner.ts'
import { markDeadOwners } from '../recovery/recover.ts'
import type { Screening } from '../screening/index.ts'
import { detectRestore } from '../store/detect-restore.ts'
import { createPauseReader, type PauseReader } from '../store/pauses.ts'
import { type FacilitatorSettings, type OpenedFacilitator, openFacilitator } from './open-facilitator.ts'
import type { Composition } from './open-infrastructure.ts'
import { openScreening } from './open-screening.ts'
import type { Interceptors } from './parts.ts'

export type SettlementSettings = FacilitatorSettings & {
  /** A file with addresses that are not served. */
  screeningList?: string | undefined
}

export type OpenedSettlement = OpenedFacilitator & { owner: Owner; pauses: PauseReader; screening: Screening }

/** Who moves the money and who is not served: needed by what is sold, and open before anything is. */
export async function openSettlement(
  settings: SettlementSettings,
  composition: Composition,
  intercept: Interceptors,
): Promise<OpenedSettlement> {
  const { ports, infrastructure, stops } = composition
  const owner = await openOwner(composition)
  const pauses = await createPauseReader(infrastructure.store.database, ports.clock)
  stops.push(() => pauses.stop())
  const { screening, refused } = await openScreening(settings.screeningList, composition)
  const opened = await openFacilitator(settings, composition, owner)
  const facilitator = intercept.facilitator?.(opened.facilitator) ?? opened.facilitator
  return { ...opened, facilitator: recordRefusedPayers(facilitator, refused, ports.log), owner, pauses, screening }
}

/** Registers this process as an owner. Claims of dead processes are free from here on. */
async function openOwner({ ports: { clock, rng }, infrastructure, stops }: Composition): Promise<Owner> {
  const { store, restoreDetection } = infrastructure
  const { database } = store
  const owner = await registerOwner(database, clock, rng, () => detectRestore(restoreDetection))
  stops.push(() => owner.release())
  await markDeadOwners({ database, owner, clock })
  return owner
}
