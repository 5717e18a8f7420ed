import type { Clock } from '@assay/till/kernel/clock'
import { limitKey } from './client-address.ts'

export type LimitConfig = {
  /** Refill of one caller's bucket. */
  perSecond: number
  burst: number
  /** Unreadable or invalid payments a caller may send per minute. */
  badPaymentsPerMinute: number
  /** Callers remembered at most; the memory of the limiter is bounded by it. */
  callersMax: number
}

/** High enough for honest use of every route, low enough that one address cannot fill a core. */
export const productionLimits: LimitConfig = {
  perSecond: 50,
  burst: 300,
  badPaymentsPerMinute: 30,
  callersMax: 50_000,
}

/** A load test from the same machine must get through. */
export const demoLimits: LimitConfig = {
  perSecond: 1_000_000,
  burst: 1_000_000,
  badPaymentsPerMinute: 1_000_000,
  callersMax: 1_000,
}

export type Bucket = { tokens: number; badPayments: number; updatedMs: number }

export type Limiter = {
  bucketOf(address: string): Bucket
  /** False when the caller must wait; nothing is taken then. */
  spend(bucket: Bucket, cost: number): boolean
  /** Counts a payment that could not be read or was invalid: those cost us mathematics and bring nothing. */
  countBadPayment(bucket: Bucket): void
  /** Checked before any signature mathematics. */
  maySendPayment(bucket: Bucket): boolean
  secondsUntil(bucket: Bucket, cost: number): number
  /** Value of the RateLimit header (draft-ietf-httpapi-ratelimit-headers). */
  header(bucket: Bucket): string
  policyHeader: string
  size(): number
}

export function createLimiter(clock: Clock, config: LimitConfig): Limiter {
  const buckets = new Map<string, Bucket>()
  const refilledAfterMs = Math.max(60_000, (config.burst / config.perSecond) * 1000)
  const refill = (bucket: Bucket) => {
    const now = clock.nowMs()
    const seconds = Math.max(0, now - bucket.updatedMs) / 1000
    bucket.tokens = Math.min(config.burst, bucket.tokens + seconds * config.perSecond)
    bucket.badPayments = Math.max(0, bucket.badPayments - (seconds * config.badPaymentsPerMinute) / 60)
    bucket.updatedMs = now
  }
  return {
    bucketOf: (address) => {
      const key = limitKey(address)
      const known = buckets.get(key)
      if (known) {
        refill(known)
        return known
      }
      if (buckets.size >= config.callersMax) makeRoom(buckets, clock.nowMs() - refilledAfterMs)
      const fresh: Bucket = { tokens: config.burst, badPayments: 0, updatedMs: clock.nowMs() }
      buckets.set(key, fresh)
      return fresh
    },
    spend: (bucket, cost) => {
      if (bucket.tokens < cost) return false
      bucket.tokens -= cost
      return true
    },
    countBadPayment: (bucket) => {
      bucket.badPayments += 1
    },
    maySendPayment: (bucket) => Math.ceil(bucket.badPayments) < config.badPaymentsPerMinute,
    secondsUntil: (bucket, cost) => Math.max(1, Math.ceil((cost - bucket.tokens) / config.perSecond)),
    header: (bucket) =>
      `"caller";r=${Math.floor(bucket.tokens)};t=${Math.ceil((config.burst - bucket.tokens) / config.perSecond)}`,
    policyHeader: `"caller";q=${config.burst};w=${Math.ceil(config.burst / config.perSecond)}`,
    size: () => buckets.size,
  }
}

/** Callers idle long enough to have refilled go first: evicting them changes nothing. Otherwise the oldest tenth. */
function makeRoom(buckets: Map<string, Bucket>, idleSinceMs: number): void {
  const before = buckets.size
  for (const [key, bucket] of buckets) if (bucket.updatedMs < idleSinceMs) buckets.delete(key)
  if (buckets.size < before) return
  let drop = Math.max(1, Math.floor(before / 10))
  for (const key of buckets.keys()) {
    buckets.delete(key)
    drop -= 1
    if (drop <= 0) return
  }
}
