import type { Filters } from './filters.ts'
import type { Found } from './match-index.ts'
import type { IndexedDoc } from './segment.ts'

export const engineNames = ['index', 'postgres', 'opensearch'] as const
export type EngineName = (typeof engineNames)[number]

/** Whatever finds candidates: our own index in its own thread, the full text search of PostgreSQL, or OpenSearch. */
export type MatchEngine = {
  readonly name: EngineName
  search(query: string, filters: Filters, limit: number): Promise<Found>
  /** The newest page it already holds from an earlier run, 0 for none. */
  indexedTo(): Promise<number>
  /** Pages in ascending order of their ids. */
  add(docs: readonly IndexedDoc[]): Promise<void>
  setScores(scores: readonly (readonly [domain: string, score: number])[]): Promise<void>
  size(): Promise<{ docs: number; segments: number }>
  stop(): Promise<void>
}
