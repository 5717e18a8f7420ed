export { type JobSettings, recoverAtStart, runJobs, startJobs, tillJobs } from './jobs.ts'
export { createJwsPort } from './jws-port.ts'
export { type GateSettings, type OpenedGate, openGate } from './open-gate.ts'
export {
  type Infrastructure,
  type InfrastructureSettings,
  instancePayees,
  openInfrastructure,
  openTillStore,
  type StoreSettings,
} from './open-infrastructure.ts'
export { type Custody, openCustody, openPayouts, type PayoutSettings } from './open-payouts.ts'
export { type OpenedSettlement, openSettlement, type SettlementSettings } from './open-settlement.ts'
export type { Interceptors, Ports, ReadinessCheck, SalePart, Stops, TillJob } from './parts.ts'
export { readinessChecks } from './readiness.ts'
