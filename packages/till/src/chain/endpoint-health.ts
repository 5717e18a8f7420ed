/** What is known about an endpoint from its answers. Pure: each event gives the next state. */
export type Health = {
  /** Moving average; undefined until it answered. */
  latencyMs: number | undefined
  measuredAtMs: number
  /** In a row. */
  failures: number
  /** It is not asked before this, unless nobody else is left. */
  pausedUntilMs: number
  pauseMs: number
  /** Its answers differed from what enough others said: until then others are asked first. */
  doubtedUntilMs: number
  doubtMs: number
}

export const newHealth = (nowMs: number): Health => ({
  latencyMs: undefined,
  measuredAtMs: nowMs,
  failures: 0,
  pausedUntilMs: Number.NEGATIVE_INFINITY,
  pauseMs: 0,
  doubtedUntilMs: Number.NEGATIVE_INFINITY,
  doubtMs: 0,
})

const failuresMax = 3
const pauseMsMin = 1_000
const pauseMsMax = 60_000
const doubtMsMin = 10_000
const doubtMsMax = 600_000
/** After this long without a failure the next pause is short again. */
const pauseResetMs = 120_000
/** A slower answer weighs more than a faster one: an endpoint that is sometimes slow is asked last. */
const [risingWeight, fallingWeight] = [0.5, 0.25]
/** An answer this many times faster than the average replaces it: the slow period is over. */
const recoveryRatio = 10

export function afterAnswer(health: Health, ms: number, nowMs: number): Health {
  const before = health.latencyMs ?? ms
  const weight = ms * recoveryRatio < before ? 1 : ms > before ? risingWeight : fallingWeight
  return { ...afterAnyAnswer(health, nowMs), latencyMs: before + (ms - before) * weight }
}

/** An answer ends a pause; how long it took says nothing where it depends on what was asked. */
export const afterAnyAnswer = (health: Health, nowMs: number): Health => ({
  ...health,
  measuredAtMs: nowMs,
  failures: 0,
  pausedUntilMs: Math.min(health.pausedUntilMs, nowMs),
})

/** No answer, or none that helps. Three in a row, or a limit that it names itself, and it is paused. */
export function afterFailure(health: Health, nowMs: number, limit?: { retryAfterMs: number | undefined }): Health {
  const failures = health.failures + 1
  const failed = { ...health, failures, measuredAtMs: nowMs }
  // What was asked before the pause may still fail during it.
  if (isPaused(health, nowMs) || (failures < failuresMax && limit === undefined)) return failed
  const longer = nowMs - health.pausedUntilMs > pauseResetMs ? pauseMsMin : health.pauseMs * 2
  const pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, longer, limit?.retryAfterMs ?? 0))
  return { ...failed, pauseMs, pausedUntilMs: nowMs + pauseMs }
}

const overtakenMsMax = 10_000

/** Another one was asked because this one did not answer in the time it usually takes. */
export function afterOvertaken(health: Health, ms: number): Health {
  return { ...health, latencyMs: Math.min(overtakenMsMax, 2 * Math.max(health.latencyMs ?? 0, ms)) }
}

export function afterContradiction(health: Health, nowMs: number): Health {
  const longer = nowMs - health.doubtedUntilMs > pauseResetMs ? doubtMsMin : health.doubtMs * 2
  const doubtMs = Math.min(doubtMsMax, Math.max(doubtMsMin, longer))
  return { ...health, doubtMs, doubtedUntilMs: nowMs + doubtMs }
}

export const isPaused = (health: Health, nowMs: number): boolean => nowMs < health.pausedUntilMs

const unknownLatencyMs = 120

/** Those with the lower rank are asked first. */
export function rankOf(health: Health, nowMs: number): number {
  if (isPaused(health, nowMs)) return 2e9 + health.pausedUntilMs - nowMs
  const doubted = nowMs < health.doubtedUntilMs ? 1e9 : 0
  return doubted + health.failures * 1e6 + (health.latencyMs ?? unknownLatencyMs)
}

const hedgeMsMin = 30
export const hedgeMsMax = 1_000

/** How long the asked ones are waited for before another is asked too: a few times what the quickest usually takes. */
export function hedgeAfterMs(all: readonly Health[]): number {
  const quickestMs = Math.min(...all.map(({ latencyMs }) => latencyMs ?? unknownLatencyMs))
  return Math.min(hedgeMsMax, Math.max(hedgeMsMin, quickestMs * 2))
}

const [probeWellMs, probeIllMs] = [60_000, 5_000]
const illLatencyMs = 1_000

/** Whether it is time to ask an endpoint that was not asked lately, so that it can take its turn again. */
export function isProbeDue(health: Health, nowMs: number): boolean {
  const ill = health.failures > 0 || (health.latencyMs ?? 0) > illLatencyMs
  return nowMs - health.measuredAtMs > (ill ? Math.max(probeIllMs, health.pauseMs) : probeWellMs)
}
