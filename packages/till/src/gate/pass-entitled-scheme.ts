import { ChainUnreadable } from '../chain/index.ts'
import type { EntitledScheme, SchemeSales, SoldBefore } from '../contract/entitled-scheme.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import { Problem } from '../kernel/problem.ts'
import { answerEarlier, releasedAnswer } from './earlier-payment.ts'
import type { SellingDeps } from './gate-deps.ts'
import { type HeldSale, passEntitled, serveHeld } from './pass-entitled.ts'
import { refuse, refuse402 } from './refuse.ts'

/** A payment that moves no money itself: its scheme decides what the payer is entitled to. */
export async function passEntitledScheme(
  deps: SellingDeps,
  scheme: EntitledScheme,
  call: PaidCall,
  envelope: PaymentEnvelope,
): Promise<GateOutcome> {
  if (!scheme.supports(envelope.network))
    return refuse402(deps, call, {
      ...{ code: 'payment_invalid', reason: 'unsupported_scheme', payer: '', network: '' },
      detail: `Scheme ${scheme.name} is not taken on this network.`,
    })
  try {
    return await scheme.pass(call, envelope, salesOf(deps, call))
  } catch (error) {
    if (error instanceof Problem) return { kind: 'refused', problem: error }
    if (!(error instanceof ChainUnreadable)) throw error
    return refuse('settlement_unavailable', { detail: 'The chain could not be read.', retryAfterSeconds: 3 })
  }
}

const salesOf = (deps: SellingDeps, call: PaidCall): SchemeSales => ({
  terms: () => deps.termsOf(call),
  offers: deps.offers,
  refuse402: (refusal) => refuse402(deps, call, { code: 'payment_invalid', ...refusal }),
  sell: (port, hold) => sellHeld(deps, { call, port, hold }),
  sellBy: (port) => passEntitled(deps, call, [port]),
  earlier: (port) => answerEarlier(call, [port]),
  returnSold: (sold) => returnSold(call, sold),
})

async function sellHeld(deps: SellingDeps, held: HeldSale): Promise<GateOutcome> {
  deps.metrics.count('entitlements', { port: held.port.name, outcome: held.hold.status })
  const outcome = await serveHeld(deps, held)
  if ('kind' in outcome && outcome.kind !== 'refused') return outcome
  if ('problem' in outcome) throw outcome.problem
  throw new Error(`a hold of ${held.port.name} was ${outcome.status}`)
}

async function returnSold(call: PaidCall, { answer, paymentResponse, delivered }: SoldBefore): Promise<GateOutcome> {
  return { kind: 'served', answer: await releasedAnswer(call, answer, paymentResponse), paymentResponse, delivered }
}
