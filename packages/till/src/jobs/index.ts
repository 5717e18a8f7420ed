export { type Lease, LeaseLost, type LeasePorts, withLease } from './lease.ts'
export { createScheduler, type Job, type JobOptions, type Scheduler } from './scheduler.ts'
