import type { Filters } from './filters.ts'
import type { Found } from './match-index.ts'
import type { IndexedDoc } from './segment.ts'

export type Question =
  | { kind: 'search'; query: string; filters: Filters; limit: number }
  | { kind: 'add'; docs: readonly IndexedDoc[] }
  | { kind: 'scores'; scores: readonly (readonly [domain: string, score: number])[] }
  | { kind: 'size' }
  /** Reuses what an earlier thread left in this folder and stores it there from now on. */
  | { kind: 'open'; folder: string }

export type Size = { docs: number; segments: number }

/** The newest page in what was reused, 0 for nothing. */
export type Opened = { indexedTo: number }

export type Answer = { id: number; result?: Found | Size | Opened | undefined; error?: string }
