export { fundingClusters } from './funding-clusters.ts'
export { fundingJobs } from './funding-jobs.ts'
