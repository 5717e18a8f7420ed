import type { SettleOutcome } from '../../contract/facilitator.ts'

/** Pure: what the answers of a facilitator say about whether to send it more. */
export type FacilitatorHealth = {
  /** Outages in a row. */
  outages: number
  /** It gets nothing new before it has answered a question that costs nothing, which it is asked from then on. */
  pausedUntilMs: number | undefined
}

export const healthy: FacilitatorHealth = { outages: 0, pausedUntilMs: undefined }

const outagesMax = 3
const [pauseMsMin, pauseMsMax] = [2_000, 60_000]

/** Nothing was handed out, and the fault is not the payment's: another one may submit it. */
export const isHandedBack = (outcome: SettleOutcome): boolean =>
  outcome.status === 'refused' && !outcome.payloadSent && outcome.reason.startsWith('facilitator_')

const isOutage = (outcome: SettleOutcome) =>
  outcome.status === 'unknown' || (outcome.status === 'refused' && outcome.reason.startsWith('facilitator_'))

/** One that cannot be reached at all is paused at once; one that does not answer, after three in a row. */
export function afterSettle(health: FacilitatorHealth, outcome: SettleOutcome, nowMs: number): FacilitatorHealth {
  if (!isOutage(outcome)) return healthy
  const outages = health.outages + 1
  if (outages < outagesMax && !isHandedBack(outcome)) return { ...health, outages }
  return { outages, pausedUntilMs: nowMs + pauseMsOf(outages) }
}

export function afterProbe(health: FacilitatorHealth, answered: boolean, nowMs: number): FacilitatorHealth {
  if (answered) return healthy
  const outages = health.outages + 1
  return { outages, pausedUntilMs: nowMs + pauseMsOf(outages) }
}

const pauseMsOf = (outages: number) => Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(10, outages))
