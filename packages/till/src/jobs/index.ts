export { createDueWatch, type DueWatch } from './due-watch.ts'
export {
  createLeases,
  handOver,
  type Lease,
  LeaseLost,
  type LeasePorts,
  type Leases,
  msSinceJob,
  withLease,
} from './lease.ts'
export { createScheduler, type Job, type JobOptions, type Scheduler } from './scheduler.ts'
