import type { Json } from '@assay/protocol/canonical-json'
import { type Clock, toRfc3339 } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { RouteDeclaration } from './route.ts'

/** Why something cannot be sold now, and since when. */
export type Unavailable = {
  /** One word for software, such as `no_data`, `stale`, `no_licence`, `no_signal`, `paused`. */
  why: string
  /** One sentence for people. */
  detail: string
  sinceMs: number
  retryAfterSeconds?: number
  /** Further members of the problem. */
  extra?: Readonly<Record<string, Json>>
}

/** The same for an unpaid caller and a buyer; nothing is charged. */
export function notAvailable({ why, detail, sinceMs, retryAfterSeconds = 60, extra }: Unavailable): Problem {
  return new Problem('not_available', {
    detail,
    retryAfterSeconds,
    extra: { why, since: toRfc3339(sinceMs), ...extra },
  })
}

export type Availability = { why: string; detail: string; since: string }

/** Reason for a route as a whole, for documents; undefined while any of it is sold. */
export function availabilityOf({ access }: RouteDeclaration): Availability | undefined {
  const found = access.kind === 'paid' ? access.unavailable?.() : undefined
  return found && { why: found.why, detail: found.detail, since: toRfc3339(found.sinceMs) }
}

/** Remembers since when a reason holds, if no other fact shows it. */
export type Since = (key: string, holds: boolean) => number

export function createSince(clock: Clock): Since {
  const began = new Map<string, number>()
  return (key, holds) => {
    const nowMs = clock.nowMs()
    if (!holds) {
      began.delete(key)
      return nowMs
    }
    const known = began.get(key) ?? nowMs
    began.set(key, known)
    return known
  }
}
