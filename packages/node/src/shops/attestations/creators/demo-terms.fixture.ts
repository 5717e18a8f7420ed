import { demoMover } from '@assay/till/devnet'
import { parseMarketSettings } from '../settings.ts'
import type { DistributorTerms } from './contracts.ts'

/** The contract of a demo node with the usual delays. */
export const demoTerms: DistributorTerms = { mover: demoMover.address, ...parseMarketSettings({}, true).delays }
