import type { Families } from '../../http/index.ts'

/** How many descriptors of the socket a worker gets: it takes one connection from each per turn of its loop. */
export const handlesPerWorker = 8

export type WorkerReady = { firstPurchase: string | undefined }

/** From a worker to the primary. */
export type FromWorker =
  | ({ kind: 'ready' } & WorkerReady)
  /** The metrics of every worker are asked for. */
  | { kind: 'gather'; id: number }
  /** Its own, in answer to `metrics`. */
  | { kind: 'metrics'; id: number; families: Families }

/** From the primary to a worker; `socket` comes with a handle. */
export type ToWorker =
  | { kind: 'socket' }
  | { kind: 'metrics'; id: number }
  | { kind: 'gathered'; id: number; families: readonly Families[] }

/** Marks a process as a worker, with its place; such as `1`. */
export const workerVariable = 'ASSAY_WORKER'
