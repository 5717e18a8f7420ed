export { type JobSettings, recoverAtStart, runJobs, startJobs, tillJobs } from './jobs.ts'
export { createJwsPort } from './jws-port.ts'
export { type FacilitatorSettings, type OpenedFacilitator, openFacilitator } from './open-facilitator.ts'
export { type GateSettings, type OpenedGate, openGate } from './open-gate.ts'
export {
  type Infrastructure,
  type InfrastructureSettings,
  instancePayees,
  openInfrastructure,
  openTillStore,
  type StoreSettings,
} from './open-infrastructure.ts'
export { openPayouts, type PayoutSettings } from './open-payouts.ts'
export type { Interceptors, Ports, ReadinessCheck, SalePart, Stops, TillJob } from './parts.ts'
export { readinessChecks } from './readiness.ts'
