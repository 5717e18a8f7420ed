export { type Lease, LeaseLost, type LeasePorts, msSinceJob, withLease } from './lease.ts'
export { createScheduler, type Job, type JobOptions, type Scheduler } from './scheduler.ts'
