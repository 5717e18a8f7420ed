import { recordRefusedPayers } from '../facilitators/index.ts'
import { type Owner, registerOwner } from '../gate/owner.ts'
import { findDeadOwners } from '../recovery/recover.ts'
import type { Screening } from '../screening/index.ts'
import { detectRestore } from '../store/detect-restore.ts'
import { createPauseReader, type PauseReader } from '../store/pauses.ts'
import { type FacilitatorSettings, type OpenedFacilitator, openFacilitator } from './open-facilitator.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import { openScreening } from './open-screening.ts'
import type { Interceptors, Ports, Stops } from './parts.ts'

export type SettlementSettings = FacilitatorSettings & {
  /** A file with addresses that are not served. */
  screeningList?: string | undefined
}

export type OpenedSettlement = OpenedFacilitator & { owner: Owner; pauses: PauseReader; screening: Screening }

/** Who moves the money and who is not served: needed by what is sold, and open before anything is. */
export async function openSettlement(
  settings: SettlementSettings,
  ports: Ports,
  infrastructure: Infrastructure,
  stops: Stops,
  intercept: Interceptors,
): Promise<OpenedSettlement> {
  const owner = await openOwner(ports, infrastructure, stops)
  const pauses = await createPauseReader(infrastructure.store.database, ports.clock)
  stops.push(() => pauses.stop())
  const { screening, refused } = await openScreening(settings.screeningList, ports, infrastructure)
  const opened = await openFacilitator(settings, ports, infrastructure, owner, stops)
  const facilitator = intercept.facilitator?.(opened.facilitator) ?? opened.facilitator
  return { ...opened, facilitator: recordRefusedPayers(facilitator, refused, ports.log), owner, pauses, screening }
}

/** This process as others know it; what processes that died had claimed is nobody's from here on. */
async function openOwner(
  { clock, rng }: Ports,
  { store, restoreDetection }: Infrastructure,
  stops: Stops,
): Promise<Owner> {
  const { database } = store
  const owner = await registerOwner(database, clock, rng, () => detectRestore(restoreDetection))
  stops.push(() => owner.release())
  await findDeadOwners({ database, owner, clock })
  return owner
}
