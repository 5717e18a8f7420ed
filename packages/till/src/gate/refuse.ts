import type { EntitledRefusal } from '../contract/entitled-scheme.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import { Problem, type ProblemCode, type ProblemDetails } from '../kernel/problem.ts'
import { encodeFailure } from '../schemes/encode-response.ts'
import type { GateDeps } from './gate-deps.ts'

/** A 402: only ever built where it is certain that no money moved. It brings a fresh challenge and says why. */
export function refuse402(
  deps: Pick<GateDeps, 'challenges' | 'metrics'>,
  call: PaidCall,
  refusal: EntitledRefusal & { code: ProblemCode; hint?: string },
): GateOutcome {
  deps.metrics.count('payments_refused', { reason: refusal.reason, route: call.route.id })
  const problem = new Problem(refusal.code, {
    detail: refusal.detail,
    ...(refusal.hint === undefined ? {} : { hint: refusal.hint }),
    extra: { reason: refusal.reason },
  })
  // Without PAYMENT-RESPONSE: stock clients look for the correction only where there is none.
  if (refusal.correction)
    return { kind: 'refused', problem, ...deps.challenges.corrected(call, refusal.reason, refusal.correction) }
  return {
    kind: 'refused',
    problem,
    ...deps.challenges.headers(call),
    paymentResponse: encodeFailure({
      reason: refusal.reason,
      message: refusal.detail,
      payer: refusal.payer,
      network: refusal.network,
    }),
  }
}

export function refuse(code: ProblemCode, details: ProblemDetails = {}): GateOutcome {
  return { kind: 'refused', problem: new Problem(code, details) }
}

/** 503 with where to follow the payment; the client must not sign again. */
export function refuseRetryLater(
  code: 'settlement_unknown' | 'payment_in_flight' | 'refund_due',
  statusUrl: string,
  retryAfterSeconds: number,
  detail?: string,
): GateOutcome {
  return refuse(code, {
    retryAfterSeconds,
    extra: { status_url: statusUrl },
    headers: { link: `<${statusUrl}>; rel="status"` },
    ...(detail === undefined ? {} : { detail }),
  })
}
