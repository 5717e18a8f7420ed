import type { WorkPath } from '../die-at-work.ts'
import { channelPaths } from './channels.ts'
import { creatorPaths } from './creators.ts'
import { entitlementPaths } from './entitlements.ts'
import { exchangePaths } from './exchange.ts'
import { payoutPaths } from './payouts.ts'
import { repairPaths } from './repairs.ts'

export const workPaths: readonly WorkPath[] = [
  ...payoutPaths,
  ...channelPaths,
  ...creatorPaths,
  ...entitlementPaths,
  ...repairPaths,
  ...exchangePaths,
]
