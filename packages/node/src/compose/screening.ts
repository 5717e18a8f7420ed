import { zeroAddress } from '@assay/protocol/address'
import type { Screening } from '@assay/till/screening'
import { createListScreening, createRefusedPayers, createScreening, type RefusedPayers } from '@assay/till/screening'
import { type Config, ConfigError } from '../config/load-config.ts'
import type { Ground, Ports } from './ground.ts'

export type OpenedScreening = { screening: Screening; refused: RefusedPayers }

/** The list of the operator and what facilitators said. A list that cannot be used stops the start. */
export async function openScreening(config: Config, ports: Ports, ground: Ground): Promise<OpenedScreening> {
  const refused = createRefusedPayers({ sql: ground.store.database, clock: ports.clock, log: ports.log })
  const list = config.screeningList === undefined ? [] : [createListScreening(config.screeningList, ports)]
  for (const one of list)
    await one.find(zeroAddress).catch((error: Error) => {
      throw new ConfigError([error.message])
    })
  // Read before the first purchase asks.
  await refused.find(zeroAddress)
  return { screening: createScreening([...list, refused]), refused }
}
