import type { Gate, PaidCall } from '../contract/paid-call.ts'
import { CommitUnknown, StoreUnavailable } from '../store/errors.ts'
import { createEntitledSales } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { passEntitled } from './pass-entitled.ts'
import { passPayment } from './pass-payment.ts'
import { refuse } from './refuse.ts'

const paymentHeader = 'payment-signature'
const version1Header = 'x-payment'

/** The one way to a paid answer: nothing, an entitlement, or a payment. */
export function createGate(deps: GateDeps): Gate {
  const entitlementsOf = (call: PaidCall) => deps.entitlements.filter((port) => port.claims(call.headers))
  const sales = createEntitledSales(deps)
  return {
    challenge(call) {
      const carriesSomething =
        call.headers.has(paymentHeader) || call.headers.has(version1Header) || entitlementsOf(call).length > 0
      return carriesSomething ? undefined : deps.challenges.of(call)
    },
    async pass(call) {
      const payment = call.headers.get(paymentHeader)
      if (call.headers.has(version1Header))
        return payment === undefined
          ? refuse('payment_v1')
          : refuse('payment_malformed', { detail: 'PAYMENT-SIGNATURE and X-PAYMENT were both sent; send one.' })
      const entitlements = payment === undefined ? entitlementsOf(call) : []
      if (payment === undefined && entitlements.length === 0) return { kind: 'challenge', ...deps.challenges.of(call) }
      // A comma can only come from two headers joined into one: which of them was meant cannot be told.
      if (payment?.includes(','))
        return refuse('payment_malformed', { detail: 'PAYMENT-SIGNATURE was sent more than once.' })
      try {
        const known = deps.owner.stayAlive()
        if (known) await known
        if (await deps.salesPaused())
          return refuse('not_available', {
            retryAfterSeconds: 60,
            detail: 'The operator has paused sales.',
            extra: { why: 'paused' },
          })
        return await (payment === undefined
          ? passEntitled(deps, sales, call, entitlements)
          : passPayment(deps, call, payment, (ports) => passEntitled(deps, sales, call, ports)))
      } catch (error) {
        // Before the intent is written no money can have moved; after it, errors have been dealt with where they arose.
        if (!(error instanceof StoreUnavailable || error instanceof CommitUnknown)) throw error
        deps.log.error({ route: call.route.id, error: error.message }, 'a payment could not be recorded')
        return refuse('settlement_unavailable', { detail: 'The payment could not be recorded.', retryAfterSeconds: 3 })
      }
    },
  }
}
