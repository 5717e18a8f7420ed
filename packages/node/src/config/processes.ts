import { isLoopbackUrl } from '@assay/protocol/loopback'
import { processesMax } from './environment.ts'

/**
 * Of the CPU of a purchase, this part is the node's and the rest is the database's (docs/scale.md): workers on every core of a machine
 * that carries both take from the database what they wait for, and sell less than one process would.
 */
const nodeShare = 0.63

/** What `PROCESSES=auto` stands for on a machine with so many cores. */
export function countWorkers(cores: number, databaseUrl: string | undefined): number {
  const isShared = databaseUrl === undefined || isLoopbackUrl(databaseUrl)
  return Math.min(processesMax, Math.max(1, isShared ? Math.floor(cores * nodeShare) : cores))
}
