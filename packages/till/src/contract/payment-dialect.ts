import type { Problem, ProblemCode } from '../kernel/problem.ts'
import type { GateOutcome, PaidCall } from './paid-call.ts'
import type { Invalid, PaymentEnvelope, Scheme } from './scheme.ts'
import type { Terms } from './terms.ts'

/** A header that carries a payment. */
export type PaymentHeader = {
  /** As messages name it. */
  name: string
  /** Its value where a request has it. */
  find(headers: ReadonlyMap<string, string>): string | undefined
  /** Why a payment in it is never taken. */
  refusal?: ProblemCode
}

/** What a payment header says. `invalid`: what is wrong with how the payment was sent, whatever it is worth. */
export type SentPayment = { envelope: PaymentEnvelope; invalid?: Invalid } | { problem: Problem }

/** Writes WWW-Authenticate for one caller, each time a new one. */
export type WriteChallenge = (call: PaidCall) => () => string

/** How a payment is written in a request and its outcome in the response; schemes know nothing of it. */
export type PaymentDialect = {
  readonly headers: readonly PaymentHeader[]
  read(header: string, call: PaidCall): SentPayment | Promise<SentPayment>
  /** The outcome in its words. Absent: as it is. */
  write?(outcome: GateOutcome): GateOutcome
  /** Its own challenge beside PAYMENT-REQUIRED, for what a 402 offers. Undefined where nothing of it can be paid so. */
  challenge?(resourceUrl: string, offered: readonly OfferedTerms[]): WriteChallenge | undefined
}

/** `id`: of the scheme, where it is one that settles. */
export type OfferedTerms = { scheme: Partial<Pick<Scheme, 'id'>>; terms: Terms }
