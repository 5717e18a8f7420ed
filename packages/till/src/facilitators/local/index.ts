import type { Hex } from '@assay/protocol/bytes'
import { declareFacilitator, type FacilitatorOption } from '../facilitator-kind.ts'
import { createLocalFacilitator } from './local-facilitator.ts'

/** This process itself, with its own wallets. */
export const local = declareFacilitator({
  name: 'local',
  chosenBy: 'local',
  isDefault: true,
  takes: (choice) => choice === 'local',
  needsSettlerKeys: true,
  option: 'local({ keys })',
  choose: ({ keys }: { keys: readonly Hex[] }): FacilitatorOption => ({
    choice: { kind: 'local', settings: {} },
    settlerKeys: keys,
  }),
  variables: {},
  readSettings: () => ({}),
  open: async (_settings, { localChains, clock, log, metrics, factories }) =>
    createLocalFacilitator({ chains: await localChains(), clock, log, metrics, factories }),
})
