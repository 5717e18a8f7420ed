import type { SimulatedTransfer } from '../chain/index.ts'
import { explainRevert } from './revert-reason.ts'

/** Causes that our own simulation can confirm, and the codes that facilitators give for them. */
const causes: readonly (readonly string[])[] = [
  ['insufficient_funds', 'invalid_exact_evm_insufficient_balance'],
  ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_signature', 'invalid_exact_evm_failed_to_parse_signature'],
  ['account_blacklisted'],
]

/**
 * A refusal of a payload that others hold by now is believed at once only if the same transfer fails for the same cause
 * on enough of our endpoints. Everything else may still be submitted until the authorization expires.
 */
export function simulationConfirms(reason: string, simulated: SimulatedTransfer): boolean {
  const cause = causes.find((codes) => codes.includes(reason))
  return simulated.status === 'fails' && cause?.includes(explainRevert(simulated.returnData).reason) === true
}

/** Words for "this payer is not served": sanctions, compliance, risk. Not a fault of the payment. */
const screening =
  /(^|_)(screen|screening|screened|sanction|sanctions|sanctioned|ofac|compliance|kyt|aml|risk)(_|$)|^policy_violation$|^payer_(refused|blocked)$/i

export const isScreening = (reason: string): boolean => screening.test(reason)
