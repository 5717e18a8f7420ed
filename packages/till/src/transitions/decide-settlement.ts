import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { paidOtherwise } from './other-use.ts'
import { refusedPrefix } from './resolve-unknown.ts'
import type { Confirmed, SettlementResult } from './settlement-result.ts'
import { moves, type StateChange } from './state-changes.ts'

/** The answer of the request: 402, 409, 403, 503 with the status URL, and 503 without one, for nothing was sent. */
export type SettlementAnswer = 'pay_again' | 'credited' | 'payer_refused' | 'later' | 'not_sent'

export type AfterSettlement =
  /** Served or held: see `decideFinish`. */
  | { do: 'finish'; evidence: Confirmed }
  | { do: 'credit'; evidence: Confirmed; answer: 'credited' }
  | { do: 'end'; move: StateChange; reason: string; transaction?: Hex; answer: SettlementAnswer }

/** What an attempt to settle means for its payment. `other` is set when the key was used for something else. */
export function decideSettlement(
  result: SettlementResult,
  other?: { final: boolean; reason: string },
): AfterSettlement {
  switch (result.status) {
    case 'settled':
      return { do: 'finish', evidence: result.evidence }
    case 'spent_before':
      return { do: 'credit', evidence: result.evidence, answer: 'credited' }
    case 'failed':
      return { do: 'end', move: moves.fail, reason: result.reason, answer: 'pay_again' }
    case 'not_sent':
      return { do: 'end', move: moves.withdraw, reason: result.reason, answer: 'not_sent' }
    case 'used_otherwise':
      return decideOtherUse(other)
    case 'refused':
      return unknown(`${refusedPrefix}${result.reason}`)
    case 'payer_refused':
      return { ...unknown(`${refusedPrefix}${result.reason}`), answer: 'payer_refused' }
    case 'contradicted':
      return unknown(result.detail)
    case 'unknown':
      return unknown(result.reason, result.transaction)
  }
}

type Ended = Extract<AfterSettlement, { do: 'end' }>

const unknown = (reason: string, transaction?: Hex): Ended => ({
  do: 'end',
  move: moves.markUnknown,
  reason,
  answer: 'later',
  ...(transaction ? { transaction } : {}),
})

/** A key may be signed more than once, or cancelled. Certain in a final block, unknown before it. */
function decideOtherUse(other: { final: boolean; reason: string } | undefined): AfterSettlement {
  if (!other) throw new Error('another use of a payment key comes with its reason')
  if (!other.final) return unknown(other.reason)
  const answer = other.reason === paidOtherwise ? 'credited' : 'pay_again'
  return { do: 'end', move: moves.failForOtherUse, reason: other.reason, answer }
}

export type FinishFacts = {
  amountMicro: Micro
  /** Up to here inclusion in a block is enough. */
  inclusionMicroMax: Micro
  revocable: boolean
  final: boolean
  /** Whether the exposure allows to give this away for money that is not final. */
  hasRoom: boolean
}

/** Above the limit, or without room, what cannot be revoked waits for finality; what can is granted provisionally. */
export function decideFinish(facts: FinishFacts): { hold: boolean; provisional: boolean } {
  const large = facts.amountMicro > facts.inclusionMicroMax
  if (facts.final) return { hold: false, provisional: false }
  if (facts.revocable) return { hold: false, provisional: large }
  return { hold: large || !facts.hasRoom, provisional: false }
}
