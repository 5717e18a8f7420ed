import type { EntitlementPort } from '../contract/entitlement.ts'
import type { PaidCall } from '../contract/paid-call.ts'

/** What wallets may use without paying per call. A seller who needs the open till for one adds it later. */
export type Entitlements = {
  add(port: EntitlementPort): void
  isEmpty(): boolean
  /** Those whose credential the call carries. */
  claimedBy(call: PaidCall): EntitlementPort[]
}

export function createEntitlements(given: readonly EntitlementPort[]): Entitlements {
  const ports = [...given]
  return {
    add: (port) => void ports.push(port),
    isEmpty: () => ports.length === 0,
    claimedBy: ({ headers }) => ports.filter((port) => port.claims(headers)),
  }
}
