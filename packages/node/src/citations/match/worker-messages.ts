import type { Filters, Found } from './match-index.ts'
import type { IndexedDoc } from './segment.ts'

export type Question =
  | { kind: 'search'; query: string; filters: Filters; limit: number }
  | { kind: 'add'; docs: readonly IndexedDoc[] }
  | { kind: 'scores'; scores: readonly (readonly [domain: string, score: number])[] }
  | { kind: 'size' }

export type Size = { docs: number; segments: number }

export type Answer = { id: number; result?: Found | Size | undefined; error?: string }
