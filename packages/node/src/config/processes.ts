import { isLoopbackUrl } from '@assay/protocol/loopback'
import { processesMax } from './environment.ts'

/**
 * The node's share of the CPU of a purchase; the rest is the database's (docs/scale.md). On a machine that runs both, a
 * worker on every core takes CPU from the database it waits for, and sells less than one process would.
 */
const nodeShare = 0.63

/** What `PROCESSES=auto` stands for on a machine with so many cores. */
export function countWorkers(cores: number, databaseUrl: string | undefined): number {
  const isShared = databaseUrl === undefined || isLoopbackUrl(databaseUrl)
  return Math.min(processesMax, Math.max(1, isShared ? Math.floor(cores * nodeShare) : cores))
}
