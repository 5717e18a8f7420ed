/** A named thing the node needs. Rejecting or answering false makes the node not ready. */
export type ReadinessCheck = { name: string; check(signal: AbortSignal): Promise<boolean> }
