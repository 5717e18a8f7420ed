/** The ways of the SDK, which is loaded only when something is bought. */
import type { Way } from '@assay/sdk'

export type { Way } from '@assay/sdk'
export const ways = ['exact', 'permit2', 'upto', 'batch-settlement', 'mpp', 'credit'] as const satisfies readonly Way[]
