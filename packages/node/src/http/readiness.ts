/** A named thing the node needs. Rejecting or answering false makes the node not ready; of a shop, that shop alone. */
export type ReadinessCheck = { name: string; shop?: string; check(signal: AbortSignal): Promise<boolean> }
