import { zeroAddress } from '@assay/protocol/address'
import { ConfigError } from '../kernel/config-error.ts'
import {
  createListScreening,
  createRefusedPayers,
  createScreening,
  type RefusedPayers,
  type Screening,
} from '../screening/index.ts'
import type { Composition } from './open-infrastructure.ts'

export type OpenedScreening = { screening: Screening; refused: RefusedPayers }

/** The list of the operator and what facilitators said. A list that cannot be used stops the start. */
export async function openScreening(
  file: string | undefined,
  { ports, infrastructure }: Composition,
): Promise<OpenedScreening> {
  const refused = createRefusedPayers({ sql: infrastructure.store.database, clock: ports.clock, log: ports.log })
  const list = file === undefined ? [] : [createListScreening(file, ports)]
  for (const one of list)
    await one.find(zeroAddress).catch((error: Error) => {
      throw new ConfigError([error.message])
    })
  // Read before the first purchase asks.
  await refused.find(zeroAddress)
  return { screening: createScreening([...list, refused]), refused }
}
