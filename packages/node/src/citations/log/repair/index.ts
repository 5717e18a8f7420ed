import { readOutsideHeads } from '../check-outside.ts'

export { openLogCopy } from './log-copy.ts'
export { startNewOrigin } from './new-origin.ts'
export { planRepair, RepairImpossible, type RepairPlan } from './plan-repair.ts'
export { readEvidence } from './read-evidence.ts'
export { resumeLog } from './resume.ts'
export { type RepairDone, rewriteLog } from './rewrite-log.ts'
export { readLogKeys, readWitnessKeys } from './trusted-head.ts'
export { readOutsideHeads }
