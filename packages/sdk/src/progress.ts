import type { Quote } from './quote.ts'

/** What a client tells while a purchase goes on, for people who watch it. */
export type Progress =
  | { kind: 'quoted'; quote: Quote }
  | { kind: 'paying' }
  /** The seller has not decided yet: the same payment is sent again after the delay. */
  | { kind: 'waiting'; delayMs: number; attempt: number; status?: number; code?: string; statusUrl?: string }

export type OnProgress = (progress: Progress) => void
