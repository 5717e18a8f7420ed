import type { Gate } from '../contract/paid-call.ts'
import { isTransient } from '../store/errors.ts'
import { createEntitledSales } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { passEntitled } from './pass-entitled.ts'
import { passPayment } from './pass-payment.ts'
import { createHeaderReader } from './payment-headers.ts'
import { refuse } from './refuse.ts'

/** The only entry to a paid route: decides between a call without payment, an entitlement and a payment. */
export function createGate(gate: GateDeps): Gate {
  const deps = { ...gate, entitledSales: createEntitledSales(gate) }
  const readPayment = createHeaderReader(gate.dialects)
  return {
    challenge(call) {
      const carriesSomething = readPayment(call.headers) !== 'none' || deps.entitlements.claimedBy(call).length > 0
      return carriesSomething ? undefined : deps.challenges.of(call)
    },
    async pass(call) {
      const payment = readPayment(call.headers)
      if (payment !== 'none' && 'problem' in payment) return { kind: 'refused', ...payment }
      const entitlements = payment === 'none' ? deps.entitlements.claimedBy(call) : []
      if (payment === 'none' && entitlements.length === 0) return { kind: 'challenge', ...deps.challenges.of(call) }
      try {
        const known = deps.owner.stayAlive()
        if (known) await known
        if (await deps.salesPaused())
          return refuse('not_available', {
            retryAfterSeconds: 60,
            detail: 'The operator has paused sales.',
            extra: { why: 'paused' },
          })
        if (payment === 'none') return await passEntitled(deps, call, entitlements)
        return await passPayment(deps, call, payment.dialect, payment.header)
      } catch (error) {
        // Before the intent is written no money can have moved; after it, errors have been dealt with where they arose.
        if (!isTransient(error)) throw error
        deps.log.error({ route: call.route.id, error: String(error) }, 'a payment could not be recorded')
        return refuse('settlement_unavailable', { detail: 'The payment could not be recorded.', retryAfterSeconds: 3 })
      }
    },
  }
}
