import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import { Problem, type ProblemCode, type ProblemDetails } from '../kernel/problem.ts'
import { encodeFailure } from '../schemes/encode-response.ts'
import type { GateDeps } from './gate-deps.ts'

/** A 402: only ever built where it is certain that no money moved. It brings a fresh challenge and says why. */
export function refuse402(
  deps: Pick<GateDeps, 'challenges' | 'metrics'>,
  call: PaidCall,
  refusal: { code: ProblemCode; reason: string; detail: string; hint?: string; payer: string; network: string },
): GateOutcome {
  deps.metrics.count('payments_refused', { reason: refusal.reason, route: call.route.id })
  return {
    kind: 'refused',
    problem: new Problem(refusal.code, {
      detail: refusal.detail,
      ...(refusal.hint === undefined ? {} : { hint: refusal.hint }),
      extra: { reason: refusal.reason },
    }),
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
