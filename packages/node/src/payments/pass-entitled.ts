import { asProblem, Problem } from '../kernel/problem.ts'
import { requestFingerprint } from './fingerprint.ts'
import type { GateDeps } from './gate-deps.ts'
import type { EntitlementPort, GateOutcome, PaidCall, Sale } from './paid-call.ts'

/** A subscription, pass or credit in place of a payment: held, prepared, captured with the effect; released on any failure. */
export async function passEntitled(deps: GateDeps, call: PaidCall, port: EntitlementPort): Promise<GateOutcome> {
  if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }
  const key = requestFingerprint(call).toString('hex')
  const hold = await port.hold(call, key)
  deps.metrics.count('entitlements', { port: port.name, outcome: hold.status })
  if (hold.status === 'refused') return { kind: 'refused', problem: hold.problem }
  if (hold.status === 'not_covered')
    return {
      kind: 'refused',
      problem: new Problem('payment_required', { detail: hold.note }),
      paymentRequired: deps.challenges.header(call),
    }
  const callId = deps.ids.next('call')
  try {
    const late = new AbortController()
    const timer = deps.clock.sleep(deps.limits.prepareMs, late.signal).then(
      () => {
        throw new Problem('upstream_unavailable', {
          detail: 'The answer could not be prepared in time.',
          retryAfterSeconds: 5,
        })
      },
      () => new Promise<never>(() => {}),
    )
    const prepared = await Promise.race([call.prepare(hold.account, callId, late.signal), timer]).finally(() =>
      late.abort(),
    )
    const replaced = await deps.database.transaction(async (tx) => {
      await port.capture(tx, hold.holdId)
      return call.route.commit?.(tx, entitledSale(deps, call, hold.account, callId, prepared.reservation ?? null))
    })
    return { kind: 'served', answer: replaced ?? prepared.answer, delivered: () => {} }
  } catch (error) {
    await port
      .release(hold.holdId)
      .catch((failure: unknown) => deps.log.warn({ hold: hold.holdId, error: String(failure) }, 'hold not released'))
    if (!(error instanceof Problem))
      deps.log.error({ route: call.route.id, error: String(error) }, 'entitled call failed')
    return { kind: 'refused', problem: asProblem(error) }
  }
}

/** No money moved for this call, so its sale is worth nothing to the hooks; only the effect is committed. */
function entitledSale(
  deps: GateDeps,
  call: PaidCall,
  account: Sale['payer'],
  callId: string,
  reservation: Sale['reservation'],
): Sale {
  return {
    paymentId: callId,
    routeId: call.route.id,
    network: call.route.networks[0] ?? '',
    payer: account,
    amountMicro: 0n,
    payee: call.route.payee,
    attribution: call.attribution,
    reservation,
    provisional: false,
    transaction: '',
    settledAtMs: deps.clock.nowMs(),
  }
}
