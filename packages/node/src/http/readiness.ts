/** A named thing the node needs. Rejecting or answering false makes the node not ready. */
export type ReadinessCheck = {
  name: string
  check(signal: AbortSignal): Promise<boolean>
  /** Without it only a part of the node stops: it is shown, and the node stays ready. */
  partial?: boolean
}
