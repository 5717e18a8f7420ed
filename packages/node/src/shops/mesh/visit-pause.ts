import type { Rng } from '@assay/till/kernel/random'
import type { MeshSettings } from './settings.ts'

/** With many peers each is visited more rarely: others tell what changes in the meantime. */
export function visitPauseMs({ visitEveryMs, visitsPerMinute }: MeshSettings, live: number): number {
  return Math.max(visitEveryMs, Math.ceil((live * 60_000) / visitsPerMinute))
}

/** Until the second visit: peers that were met together are not visited together for ever. */
export function firstPauseMs(rng: Rng, pauseMs: number): number {
  return pauseMs / 2 + (pauseMs / 2) * ((rng.bytes(1)[0] ?? 0) / 255)
}
