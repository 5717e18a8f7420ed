import type { Facilitator, FacilitatorPayment, SettleOutcome } from '../../contract/facilitator.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { isExact } from '../exact-payment.ts'
import { isPermit2 } from '../permit2-payment.ts'
import { afterProbe, afterSettle, type FacilitatorHealth, healthy, isHandedBack } from './facilitator-health.ts'
import type { PaymentHolders } from './payment-holders.ts'

export type OrderedDeps = { clock: Clock; log: Log; metrics: Metrics; holders: PaymentHolders }

type Member = { facilitator: Facilitator; health: FacilitatorHealth; probing: boolean }

const unavailable: SettleOutcome = {
  status: 'refused',
  reason: 'facilitator_unavailable',
  payloadLeft: false,
  message: 'No facilitator is available; nothing was sent.',
}
const heldElsewhere: SettleOutcome = {
  status: 'refused',
  reason: 'facilitator_holds_payment',
  payloadLeft: true,
  message: 'Another facilitator holds this payment.',
}

/** Remembered for `contradicted`. */
const settledMax = 10_000

/**
 * Several facilitators in the order of preference. A payment goes to the first that is well, and to the next one only
 * if it was provably never handed out; who holds it is stored before it is sent.
 */
export function createOrderedFacilitators(given: readonly Facilitator[], deps: OrderedDeps): Facilitator {
  const members = given.map((facilitator): Member => ({ facilitator, health: healthy, probing: false }))
  const settledBy = new Map<string, Facilitator>()
  const carrying = given.find(({ permit2Wallets }) => permit2Wallets !== undefined)
  const charging = given.find(({ settlementFee }) => settlementFee !== undefined)

  return {
    name: given.map(({ name }) => name).join(','),
    ...(charging?.settlementFee === undefined ? {} : { settlementFee: charging.settlementFee }),
    ...(carrying?.permit2Wallets === undefined ? {} : { permit2Wallets: carrying.permit2Wallets }),
    async verify(payment, signal) {
      for (const { facilitator } of usable(deps, members)) {
        const outcome = await facilitator.verify(payment, signal)
        if (outcome.status !== 'could_not_check') return outcome
      }
      return { status: 'could_not_check', reason: 'facilitator_unavailable' }
    },
    async settle(payment, signal) {
      // Only a plain authorization can be carried by anyone: other payloads are signed for one facilitator.
      const able = isPermit2(payment)
        ? members.filter(({ facilitator }) => facilitator === carrying)
        : members.slice(0, 1)
      const turn = usable(deps, isExact(payment) ? members : able)
      for (const member of turn) {
        const outcome = await settleBy(deps, members, member, payment, signal)
        if (settledBy.size > settledMax) settledBy.clear()
        if (outcome.by) settledBy.set(payment.paymentId, outcome.by)
        if (!isHandedBack(outcome.result) || signal.aborted) return outcome.result
      }
      return unavailable
    },
    contradicted(paymentId) {
      const by = paymentId === undefined ? undefined : settledBy.get(paymentId)
      for (const facilitator of by ? [by] : given) facilitator.contradicted?.(paymentId)
    },
    async supported(signal) {
      let failure: unknown = new Error('no facilitator is available')
      for (const { facilitator } of [...usable(deps, members), ...members])
        try {
          return await facilitator.supported(signal)
        } catch (error) {
          failure = error
        }
      throw failure
    },
  }
}

/** Those that are well, in their order. The others are asked, beside it, whether they are well again. */
function usable(deps: OrderedDeps, members: readonly Member[]): Member[] {
  const nowMs = deps.clock.monotonicMs()
  for (const member of members)
    if (member.health.restUntilMs !== undefined && member.health.restUntilMs <= nowMs) probe(deps, member)
  return members.filter(({ health }) => health.restUntilMs === undefined)
}

const probeMsMax = 5_000

function probe(deps: OrderedDeps, member: Member): void {
  if (member.probing) return
  member.probing = true
  const late = new AbortController()
  const timer = new AbortController()
  deps.clock.sleep(probeMsMax, timer.signal).then(
    () => late.abort(),
    () => {},
  )
  member.facilitator
    .supported(late.signal)
    .then(
      () => true,
      () => false,
    )
    .then((answered) => {
      timer.abort()
      member.probing = false
      note(deps, member, afterProbe(member.health, answered, deps.clock.monotonicMs()))
    })
}

function note(deps: OrderedDeps, member: Member, next: FacilitatorHealth): void {
  const { name } = member.facilitator
  const rested = member.health.restUntilMs !== undefined
  const rests = next.restUntilMs !== undefined
  member.health = next
  deps.metrics.gauge('facilitator_healthy', rests ? 0 : 1, { facilitator: name })
  if (rests === rested) return
  if (rests) deps.log.warn({ facilitator: name }, 'a facilitator gets no payments until it answers again')
  else deps.log.info({ facilitator: name }, 'a facilitator answers again')
}

async function settleBy(
  deps: OrderedDeps,
  members: readonly Member[],
  member: Member,
  payment: FacilitatorPayment,
  signal: AbortSignal,
): Promise<{ result: SettleOutcome; by?: Facilitator }> {
  const { holder, isNew } = await deps.holders.take(payment, member.facilitator.name)
  const holding = members.find(({ facilitator }) => facilitator.name === holder)
  if (!holding) return { result: heldElsewhere }
  const result = await holding.facilitator.settle(payment, signal)
  note(deps, holding, afterSettle(holding.health, result, deps.clock.monotonicMs()))
  if (result.status !== 'refused' || result.payloadLeft) return { result, by: holding.facilitator }
  // An earlier attempt may have handed it out, whatever became of this one.
  if (!isNew) return { result: heldElsewhere }
  await deps.holders.release(payment, member.facilitator.name)
  if (isHandedBack(result)) deps.metrics.count('facilitator_failovers', { facilitator: member.facilitator.name })
  return { result }
}
