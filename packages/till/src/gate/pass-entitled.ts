import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Draw, EntitlementPort, Hold, HoldOutcome, HoldPort } from '../contract/entitlement.ts'
import type { GateOutcome, PaidCall, PreparedAnswer } from '../contract/paid-call.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import { encodeDraw } from '../schemes/encode-response.ts'
import { answerEarlier, releasedAnswer } from './earlier-payment.ts'
import type { GateDeps, SellingDeps } from './gate-deps.ts'
import { screenPayer } from './screen-payer.ts'

export type NotHeld = Exclude<HoldOutcome, { status: 'held' }>

/** A subscription, pass or credit in place of a payment: the first that covers the call is used, else the answer is a 402. */
export async function passEntitled(
  deps: SellingDeps,
  call: PaidCall,
  ports: readonly EntitlementPort[],
): Promise<GateOutcome> {
  // The input was valid when it was paid for and may be invalid now, for example because a quote has expired.
  if (call.inputProblem)
    return (named(call) && (await answerEarlier(call, ports))) || { kind: 'refused', problem: call.inputProblem }
  const notes: Extract<HoldOutcome, { status: 'not_covered' }>[] = []
  for (const port of ports) {
    const hold = await port.hold(call)
    deps.metrics.count('entitlements', { port: port.name, outcome: hold.status })
    const outcome = hold.status === 'held' ? await serveHeld(deps, { call, port, hold }) : hold
    if ('kind' in outcome) return outcome
    if (outcome.status === 'refused') return { kind: 'refused', problem: outcome.problem }
    if (outcome.status === 'served')
      return { kind: 'served', answer: await releasedAnswer(call, outcome.answer, ''), delivered: () => {} }
    notes.push(outcome)
  }
  return {
    kind: 'refused',
    problem: new Problem('payment_required', {
      detail: notes.map(({ note }) => note).join(' '),
      extra: Object.assign({}, ...notes.map(({ extra }) => extra ?? {})),
    }),
    ...deps.challenges.headers(call),
  }
}

const named = (call: PaidCall): boolean => call.headers.has('idempotency-key')

export type HeldSale = { call: PaidCall; port: HoldPort; hold: Hold }

/** Held, prepared, captured with the effect; released on any failure. */
export async function serveHeld(deps: SellingDeps, held: HeldSale): Promise<GateOutcome | NotHeld> {
  const { call, hold } = held
  const callId = hold.callId ?? deps.ids.next('call')
  try {
    const problem = await screenPayer(deps, hold.account)
    if (problem) throw problem
    if (await isBeyondCap(deps, held)) throw new Problem('exposure_limit', { retryAfterSeconds: 30 })
    const prepared = await prepareForCaller(call, hold.account, callId).catch((error: unknown) =>
      earlierInstead(held, error),
    )
    if ('status' in prepared) return prepared
    const respond = held.port.beforeCapture && (await held.port.beforeCapture(hold, prepared))
    const sold = await deps.entitledSales.sell({ ...held, callId, prepared })
    if (sold.status === 'not_captured') return (await sold.why()) as NotHeld
    const served = respond?.()
    const paymentResponse = served?.paymentResponse ?? (sold.draw && drawResponse(hold.account, callId, sold.draw))
    return {
      kind: 'served',
      answer: await releasedAnswer(call, sold.answer, paymentResponse ?? ''),
      ...(paymentResponse === undefined ? {} : { paymentResponse }),
      delivered: served?.delivered ?? (() => {}),
    }
  } catch (error) {
    await releaseHold(deps, held)
    if (!(error instanceof Problem))
      deps.log.error({ route: call.route.id, error: String(error) }, 'entitled call failed')
    return { kind: 'refused', problem: asProblem(error) }
  }
}

async function releaseHold(deps: GateDeps, { port, hold }: HeldSale): Promise<void> {
  if (hold.chargeAfterPrepare) return
  await port
    .release(hold.holdId)
    .catch((failure: unknown) => deps.log.warn({ hold: hold.holdId, error: String(failure) }, 'hold not released'))
}

/**
 * With the exposure cap used up, nothing more is given away for credit that a reorganisation could still take. Credit that
 * is final buys as always.
 */
async function isBeyondCap(deps: GateDeps, { call: { priceMicro: amountMicro }, hold }: HeldSale): Promise<boolean> {
  // Also where the route is revocable: a draw is not undone with the payment that brought the credit.
  if (!hold.isFinal || (await deps.exposure.hasRoom({ amountMicro, payer: hold.account, revocable: false })))
    return false
  return !(await hold.isFinal())
}

/** Throws also when the caller left meanwhile: an answer that nobody can ask for again is not to be paid for. */
async function prepareForCaller(call: PaidCall, account: Address, callId: string): Promise<PreparedAnswer> {
  const prepared = await call.prepare(account, callId)
  if (call.clientGone.aborted)
    throw new Problem('not_ready', { detail: 'The caller has left; nothing was taken.', retryAfterSeconds: 1 })
  return prepared
}

/**
 * A hold that reserves money has looked for an earlier call with the same Idempotency-Key. A charge after prepare has
 * not yet.
 */
async function earlierInstead({ call, port, hold }: HeldSale, error: unknown): Promise<NotHeld> {
  const earlier = hold.chargeAfterPrepare && hold.hasKey ? await port.describe?.(call) : undefined
  if (earlier === undefined) throw error
  return earlier as NotHeld
}

function drawResponse(account: Address, callId: string, draw: Draw): string {
  return encodeDraw({
    payer: checksumAddress(account),
    network: draw.network,
    amount: draw.amountMicro.toString(),
    call: callId,
    left: draw.leftMicro.toString(),
  })
}
