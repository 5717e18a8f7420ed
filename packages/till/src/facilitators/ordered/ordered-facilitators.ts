import type { Facilitator, FacilitatorPayment, SettleOutcome } from '../../contract/facilitator.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { afterProbe, afterSettle, type FacilitatorHealth, healthy, isHandedBack } from './facilitator-health.ts'
import type { PaymentHolders } from './payment-holders.ts'

export type OrderedDeps = { clock: Clock; log: Log; metrics: Metrics; holders: PaymentHolders }

type Member = { facilitator: Facilitator; health: FacilitatorHealth; heardAtMs: number; probing: boolean }

const unavailable: SettleOutcome = {
  status: 'refused',
  reason: 'facilitator_unavailable',
  payloadSent: false,
  message: 'No facilitator is available; nothing was sent.',
}
const heldByAnother: SettleOutcome = {
  status: 'refused',
  reason: 'facilitator_holds_payment',
  payloadSent: true,
  message: 'Another facilitator holds this payment.',
}

/** Remembered for `contradicted`. */
const settledMax = 10_000

/**
 * Several facilitators in the order of preference. A payment goes to the first that is well, and to the next one only
 * if it was provably never handed out; who holds it is stored before it is sent.
 */
export function createOrderedFacilitators(given: readonly Facilitator[], deps: OrderedDeps): Facilitator {
  const members = given.map(
    (facilitator): Member => ({ facilitator, health: healthy, heardAtMs: deps.clock.monotonicMs(), probing: false }),
  )
  for (const { name } of given) deps.metrics.gauge('facilitator_healthy', 1, { facilitator: name })
  const settledBy = new Map<string, Facilitator>()
  const charging = given.find(({ settlementFee }) => settlementFee !== undefined)

  return {
    name: given.map(({ name }) => name).join(','),
    ...(charging?.settlementFee === undefined ? {} : { settlementFee: charging.settlementFee }),
    carries: (payment) => given.some((facilitator) => facilitator.carries(payment)),
    settlersOf(scheme, network) {
      // Those of the first that can: a quote that names its wallet can be settled by no other one.
      for (const facilitator of given) {
        const settlers = facilitator.settlersOf?.(scheme, network)
        if (settlers) return settlers
      }
      return undefined
    },
    refresh: async (signal) => {
      await Promise.allSettled(given.map((facilitator) => facilitator.refresh?.(signal)))
    },
    async verify(payment, signal) {
      for (const { facilitator } of usable(deps, members)) {
        const outcome = await facilitator.verify(payment, signal)
        if (outcome.status !== 'could_not_check') return outcome
      }
      return { status: 'could_not_check', reason: 'facilitator_unavailable' }
    },
    async settle(payment, signal) {
      const able = members.filter(({ facilitator }) => facilitator.carries(payment))
      const turn = usable(deps, able)
      for (const member of turn) {
        if (member !== turn.at(-1) && !(await answers(deps, member))) continue
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
    if (member.health.pausedUntilMs !== undefined && member.health.pausedUntilMs <= nowMs) probe(deps, member)
  return members.filter(({ health }) => health.pausedUntilMs === undefined)
}

/** How long the last answer of a facilitator counts as recent. */
const answerFreshMs = 10_000
const probeMsMax = 5_000
/** A buyer waits for this. */
const askMsMax = 2_000

/**
 * One that was silent for a while is asked before it is given a payment that another could submit: what was given to it
 * would be lost for the buyer until it expires.
 */
async function answers(deps: OrderedDeps, member: Member): Promise<boolean> {
  if (deps.clock.monotonicMs() - member.heardAtMs < answerFreshMs) return true
  await ask(deps, member, askMsMax)
  return member.health.pausedUntilMs === undefined
}

function probe(deps: OrderedDeps, member: Member): void {
  if (member.probing) return
  member.probing = true
  ask(deps, member, probeMsMax).finally(() => {
    member.probing = false
  })
}

async function ask(deps: OrderedDeps, member: Member, msMax: number): Promise<void> {
  const late = new AbortController()
  const timer = new AbortController()
  deps.clock.sleep(msMax, timer.signal).then(
    () => late.abort(),
    () => {},
  )
  const answered = await member.facilitator.supported(late.signal).then(
    () => true,
    () => false,
  )
  timer.abort()
  note(deps, member, afterProbe(member.health, answered, deps.clock.monotonicMs()))
}

function note(deps: OrderedDeps, member: Member, next: FacilitatorHealth): void {
  const { name } = member.facilitator
  const wasPaused = member.health.pausedUntilMs !== undefined
  const isPaused = next.pausedUntilMs !== undefined
  member.health = next
  member.heardAtMs = deps.clock.monotonicMs()
  deps.metrics.gauge('facilitator_healthy', isPaused ? 0 : 1, { facilitator: name })
  if (isPaused === wasPaused) return
  if (isPaused) deps.log.warn({ facilitator: name }, 'a facilitator gets no payments until it answers again')
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
  if (!holding) return { result: heldByAnother }
  const result = await holding.facilitator.settle(payment, signal)
  note(deps, holding, afterSettle(holding.health, result, deps.clock.monotonicMs()))
  if (result.status !== 'refused' || result.payloadSent) return { result, by: holding.facilitator }
  // An earlier attempt may have handed it out, whatever became of this one.
  if (!isNew) return { result: heldByAnother }
  await deps.holders.release(payment, member.facilitator.name)
  if (isHandedBack(result)) deps.metrics.count('facilitator_failovers', { facilitator: member.facilitator.name })
  return { result }
}
