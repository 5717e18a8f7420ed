import type { ChallengeHeaders, Gate, GateOutcome } from '../contract/paid-call.ts'
import { Problem } from '../kernel/problem.ts'
import { asProbe, buildPaidCall } from './paid-call.ts'
import type { PaidEntry } from './paid-route.ts'
import type { PlainResponse } from './plain.ts'
import type { ReadInput } from './read-input.ts'
import type { Exchange, Responder } from './respond.ts'
import type { CallContext } from './route.ts'
import type { TimeLimit } from './time-limit.ts'

export type SellDeps<E extends Exchange> = { gate: Gate; responder: Responder<E>; timeLimit: TimeLimit }

export type SellOptions = {
  /** HEAD never buys: whatever it carries, it sees what an unpaid caller sees. */
  headOnly: boolean
  /** Aborted when the caller goes before this answer was written whole. Made on demand. */
  ownSignal(): AbortSignal
}

/** A request to a paid route, read and not yet priced. */
export type PaidRequest<E extends Exchange> = { exchange: E; paid: PaidEntry; read: ReadInput; context: CallContext }

/** The outcome: the 402 of an unpaid call, a refusal, or the answer. */
export type SoldCall = { kind: GateOutcome['kind']; response: PlainResponse; problem?: Problem }

/** Handles one parsed request to a paid route: returns its 402, or passes it to the gate. */
export async function sellCall<E extends Exchange>(
  deps: SellDeps<E>,
  { exchange, paid, read, context }: PaidRequest<E>,
  options: SellOptions,
): Promise<SoldCall> {
  const call = await buildPaidCall(deps.timeLimit, paid, read, context)
  const probe = asProbe(call, read.bare, options.headOnly)
  const challenge = deps.gate.challenge(probe)
  // A payer may have an answer all the same; a caller that asks for the price hears of our own failure, not of wrong input.
  if (challenge && probe.inputProblem && probe.inputProblem.status >= 500) throw probe.inputProblem
  if (challenge) return { kind: 'challenge', response: respondChallenge(deps, exchange, challenge) }
  if (options.headOnly) throw new Problem('payment_required')
  return release(deps, exchange, await deps.gate.pass({ ...call, clientGone: options.ownSignal() }))
}

function respondChallenge<E extends Exchange>(
  { responder }: SellDeps<E>,
  exchange: E,
  { body, paymentRequired, authenticate }: { body: string } & ChallengeHeaders,
): PlainResponse {
  const parts = {
    status: 402,
    contentType: 'application/problem+json',
    body,
    cacheControl: 'no-store',
    paymentRequired,
  }
  return withChallenge(responder.respond(exchange, parts), authenticate)
}

function withChallenge(response: PlainResponse, authenticate: (() => string) | undefined): PlainResponse {
  if (authenticate) response.authenticate = authenticate
  return response
}

function release<E extends Exchange>(deps: SellDeps<E>, exchange: E, outcome: GateOutcome): SoldCall {
  const { kind } = outcome
  if (kind === 'challenge') return { kind, response: respondChallenge(deps, exchange, outcome) }
  if (kind === 'refused')
    return {
      kind,
      response: withChallenge(deps.responder.problem(exchange, outcome.problem, outcome), outcome.authenticate),
      problem: outcome.problem,
    }
  const response = deps.responder.respond(exchange, {
    ...outcome.answer,
    cacheControl: 'private, no-store',
    paid: true,
    paymentResponse: outcome.paymentResponse,
    paymentReceipt: outcome.paymentReceipt,
  })
  response.delivered = () => outcome.delivered()
  return { kind, response }
}
