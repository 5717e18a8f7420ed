import type { ChainPort } from '../chain/index.ts'
import { expectedTransfer, type PaymentRecord } from '../contract/payment-record.ts'
import { fromNonceEvidence, type SettlementResult, sinceClaim } from './settle-payment.ts'

/** Marks an unknown payment that was refused after its payload had left this process. */
export const refusedPrefix = 'refused:'

/** So long after the expiry at the head, a refused payment that is still unused has failed; no reorganisation reaches further. */
const refusedMarginSeconds = 60n

/** Only chain evidence ends the unknown state: the transfer, another use of the nonce, or its time passed at a final block. */
export async function chainVerdict(chain: ChainPort, payment: PaymentRecord): Promise<SettlementResult> {
  const expected = expectedTransfer(payment)
  if (payment.transaction) {
    const evidence = await chain.settlementByTransaction(payment.transaction, expected)
    if (evidence.status === 'confirmed') return { status: 'settled', evidence, feeMicro: 0n, gasGwei: 0n }
  }
  if (await chain.authorizationUsed(payment.payer, payment.paymentKey, 'latest')) {
    const found = await chain.settlementByNonce(expected, sinceClaim(payment.headBlock))
    return fromNonceEvidence(found, payment.headBlock)
  }
  if (payment.reason?.startsWith(refusedPrefix)) {
    const head = await chain.head()
    const expired = BigInt(head.timestamp) > payment.validBefore + refusedMarginSeconds
    if (expired && !(await chain.authorizationUsed(payment.payer, payment.paymentKey, head.number)))
      return { status: 'failed', reason: payment.reason.slice(refusedPrefix.length), gasGwei: 0n }
  }
  const final = await chain.finalizedBlock()
  if (BigInt(final.timestamp) <= payment.validBefore)
    return { status: 'unknown', reason: 'its time has not passed at a final block' }
  // Read again at that very block, which is past its time: unused there means it never can be used. Another endpoint may
  // call an earlier block final, so the block is named.
  if (await chain.authorizationUsed(payment.payer, payment.paymentKey, final.number))
    return { status: 'unknown', reason: 'the nonce was used meanwhile' }
  return { status: 'failed', reason: 'authorization_expired', gasGwei: 0n }
}
