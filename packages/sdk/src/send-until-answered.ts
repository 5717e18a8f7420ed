import { AssayError } from './errors.ts'
import { type Exchange, exchange, type PreparedRequest, problemOf } from './exchange.ts'
import type { Platform } from './platform.ts'
import type { OnProgress } from './progress.ts'
import type { Purchase } from './sign-payment.ts'

export type RetryLimits = { deadlineMs: number; attemptsMax: number }

/** With these a node says that it has not touched the payment. */
const untouchedCodes = new Set([
  'exposure_limit',
  'loss_limit',
  'not_ready',
  'payer_limit',
  'rate_limited',
  'settlement_unavailable',
  'not_available',
  'upstream_unavailable',
])

/** 503 and 429 by contract; the others because a proxy or a crash says nothing about the money. */
const undecided = new Set([429, 500, 502, 503, 504])
const firstDelayMs = 500
const longestDelayMs = 8_000

/**
 * Sends one paid request until the node has decided. Each try carries the same bytes, so that no try can pay twice.
 * The delay between tries has a minimum, so that no seller can make the client flood it.
 */
export async function sendUntilAnswered(
  platform: Platform,
  prepared: PreparedRequest,
  purchase: Purchase,
  limits: RetryLimits,
  onProgress: OnProgress = () => {},
): Promise<Exchange> {
  const giveUpAtMs = platform.nowMs() + limits.deadlineMs
  let last: Exchange | undefined
  let cause: unknown
  // A status URL once named stays worth asking, even if later tries do not get through.
  let known: { statusUrl?: string } = {}
  let untouched = true
  for (let attempt = 0; attempt < limits.attemptsMax; attempt += 1) {
    try {
      last = await exchange(platform, prepared, purchase.paymentHeader)
      if (!undecided.has(last.status)) return last
    } catch (error) {
      // It would come again as large as before.
      if (error instanceof AssayError) throw new AssayError(error.code, { ...error.details, purchase }, error)
      cause = error
      last = undefined
    }
    const { statusUrl, code = '' } = whyWaiting(last)
    if (statusUrl !== undefined) known = { statusUrl }
    if (!untouchedCodes.has(code)) untouched = false
    const delayMs = Math.max(retryAfterMs(last), Math.min(firstDelayMs * 2 ** attempt, longestDelayMs))
    if (prepared.signal?.aborted || platform.nowMs() + delayMs > giveUpAtMs) break
    onProgress({ kind: 'waiting', delayMs, attempt: attempt + 1, ...whyWaiting(last) })
    await platform.sleep(delayMs, prepared.signal).catch(() => {})
    if (prepared.signal?.aborted) break
  }
  const details = { purchase, ...whyWaiting(last), ...known }
  throw new AssayError(untouched ? 'payment_not_taken' : 'payment_outcome_unknown', details, cause)
}

function whyWaiting(received: Exchange | undefined): { status?: number; code?: string; statusUrl?: string } {
  if (received === undefined) return {}
  const { code, statusUrl } = problemOf(received)
  return {
    status: received.status,
    ...(code === undefined ? {} : { code }),
    ...(statusUrl === undefined ? {} : { statusUrl }),
  }
}

function retryAfterMs(received: Exchange | undefined): number {
  const header = received?.headers.get('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : 0
}
