import { Problem } from '../kernel/problem.ts'
import type { Account, ProvenAccount } from './account.ts'

/**
 * A payment and a proof in one request must name the same account. The key of a plain wallet is the same on every chain,
 * so it may pay on one and prove on another; a contract wallet may not.
 */
export function requireSameAccount(payer: Account, proven: ProvenAccount): void {
  const same = payer.address === proven.address && (proven.kind === 'key' || payer.chainId === proven.chainId)
  if (!same) throw new Problem('forbidden', { detail: 'The payment and the proof name different accounts.' })
}
