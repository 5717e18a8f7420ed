import type { FacilitatorKind } from '../facilitator-kind.ts'
import { createLocalFacilitator } from './local-facilitator.ts'

/** This process itself, with its own wallets. */
export const local: FacilitatorKind = {
  name: 'local',
  chosenBy: 'local',
  takes: (choice) => choice === 'local',
  variables: {},
  readSettings: () => ({}),
  open: async (_settings, { localChains, clock, log, metrics, factories }) =>
    createLocalFacilitator({ chains: await localChains(), clock, log, metrics, factories }),
}
