import type { Facilitator, SettleOutcome } from '../contract/facilitator.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'

const contradictionsMax = 3
/** Contradictions further apart than this do not add up. */
const windowMs = 3_600_000
/** How long nothing is sent; after that one more contradiction opens it again. */
const openMs = 600_000

const distrusted: SettleOutcome = {
  status: 'refused',
  reason: 'facilitator_distrusted',
  payloadSent: false,
  message: 'The facilitator reported settlements that the chain does not show; nothing was sent.',
}

/** Stops sending payments to a facilitator whose word the chain has contradicted three times. */
export function withBreaker(
  facilitator: Facilitator,
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics },
): Facilitator {
  let contradictedAtMs: number[] = []
  let openUntilMs = Number.NEGATIVE_INFINITY
  return {
    ...facilitator,
    async settle(payment, signal) {
      return clock.monotonicMs() < openUntilMs ? distrusted : facilitator.settle(payment, signal)
    },
    contradicted(paymentId) {
      facilitator.contradicted?.(paymentId)
      const nowMs = clock.monotonicMs()
      contradictedAtMs = [...contradictedAtMs.filter((atMs) => nowMs - atMs < windowMs), nowMs]
      if (contradictedAtMs.length < contradictionsMax) return
      contradictedAtMs = contradictedAtMs.slice(1 - contradictionsMax)
      openUntilMs = nowMs + openMs
      metrics.count('alarms', { alarm: 'facilitator_distrusted' })
      log.error(
        { facilitator: facilitator.name, minutes: openMs / 60_000 },
        'the chain contradicts this facilitator; no payments are sent to it for now',
      )
    },
  }
}
