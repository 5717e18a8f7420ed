import type { Micro } from '@assay/protocol/money'
import { paysExactly } from './decide-recovery.ts'
import { isUnsold, type PaymentState } from './payment-state.ts'

type Side = { payee: 'pay_to' | 'custody'; exclusive?: boolean }

export type TransferFacts = {
  into: Side | undefined
  outOf: Side | undefined
  /** The transfer was made under a payment key. */
  hasKey: boolean
}

/** What a recorded transfer is by its parties; undefined when it depends on whether its key was claimed. */
export function explainByParties({
  into,
  outOf,
  hasKey,
}: TransferFacts): 'moved' | 'funding' | 'withdrawal' | 'sent' | 'review' | undefined {
  // Between two addresses of one payee nothing changes in the books.
  if (into && outOf) return into.payee === outOf.payee ? 'moved' : 'funding'
  if (outOf) return outOf.payee === 'pay_to' ? 'withdrawal' : 'sent'
  if (!into) throw new Error('a transfer of addresses that are not ours')
  return hasKey ? undefined : 'review'
}

type Transfer = { network?: string; recipient: string; amountMicro: Micro; blockNumber: bigint }
type ClaimOf = { network?: string; state: PaymentState; payTo: string; amountMicro: Micro }

/** What another database may have sold or credited is credited to nobody until a person decides. */
type NotCredited = { post: 'gap' } | { post: 'review' }

export type Explanation =
  /** The claim takes it. */
  | { post: 'nothing' }
  | NotCredited
  /** The transfer that was quoted, after its claim was over: the claim is credited. */
  | { post: 'claim' }
  /** Credit of its sender, by its own amount. */
  | { post: 'credit'; micro: Micro }

/** A transfer with the key of a claim pays that claim if it is exactly the one that was claimed; else it is credit. */
export function explainClaimed(
  claim: ClaimOf,
  into: Side,
  transfer: Transfer,
  gapUntil: bigint | undefined,
): Explanation {
  // A Permit2 nonce counts for all assets of a chain: its transfer may be of another one than was claimed.
  const pays = claim.network === transfer.network && paysExactly(claim, transfer)
  if (pays && !isUnsold(claim.state)) return { post: 'nothing' }
  const unclaimed = explainUnclaimed(into, transfer, gapUntil)
  if (unclaimed.post !== 'credit') return unclaimed
  return pays ? { post: 'claim' } : unclaimed
}

/** It may have been sold or credited before a restore, so it is not credited again. */
export const isInGap = (transfer: { blockNumber: bigint }, gapUntil: bigint | undefined): boolean =>
  gapUntil !== undefined && transfer.blockNumber <= gapUntil

/** Without a claim: set aside where a restore may have lost the sale, review where the payee is shared, else credit. */
export function explainUnclaimed(
  { exclusive }: Side,
  transfer: Transfer,
  gapUntil: bigint | undefined,
): NotCredited | { post: 'credit'; micro: Micro } {
  if (isInGap(transfer, gapUntil)) return { post: 'gap' }
  if (exclusive === false) return { post: 'review' }
  return { post: 'credit', micro: transfer.amountMicro }
}
