import type { ChainPort } from '../chain/index.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import type { Scheme } from '../contract/scheme.ts'
import { fromKeyEvidence, type SettlementResult, sinceClaim } from './settle-payment.ts'

/** Marks an unknown payment that was refused after its payload had left this process. */
export const refusedPrefix = 'refused:'

/** So long after the expiry at the head, a refused payment that is still unused has failed; no reorganisation reaches further. */
const refusedMarginSeconds = 60n

/** Only chain evidence ends the unknown state: the transfer, another use of its key, or its time passed at a final block. */
export async function chainVerdict(
  { evidence: shown, words }: Pick<Scheme, 'evidence' | 'words'>,
  chain: ChainPort,
  payment: PaymentRecord,
): Promise<SettlementResult> {
  if (payment.transaction) {
    const evidence = await shown.byTransaction(chain, payment, payment.transaction)
    if (evidence.status === 'confirmed') return { status: 'settled', evidence, feeMicro: 0n, gasGwei: 0n }
  }
  if (await shown.isUsed(chain, payment, 'latest')) {
    const found = await shown.byKey(chain, payment, sinceClaim(payment.headBlock))
    return fromKeyEvidence(found, payment.headBlock)
  }
  if (payment.reason?.startsWith(refusedPrefix)) {
    const head = await chain.head()
    const expired = BigInt(head.timestamp) > payment.validBefore + refusedMarginSeconds
    if (expired && !(await shown.isUsed(chain, payment, head.number)))
      return { status: 'failed', reason: payment.reason.slice(refusedPrefix.length), gasGwei: 0n }
  }
  const final = await chain.finalizedBlock()
  if (BigInt(final.timestamp) <= payment.validBefore)
    return { status: 'unknown', reason: 'its time has not passed at a final block' }
  // Read again at that very block, which is past its time: unused there means it never can be used. Another endpoint may
  // call an earlier block final, so the block is named.
  if (await shown.isUsed(chain, payment, final.number))
    return { status: 'unknown', reason: 'the payment was used meanwhile' }
  return { status: 'failed', reason: words.expired, gasGwei: 0n }
}
