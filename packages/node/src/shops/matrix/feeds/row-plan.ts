import type { AsOfView } from '../as-of/as-of-view.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import type { LeftOut } from './allowed-columns.ts'
import type { Feed } from './feed.ts'
import type { Provenance } from './provenance.ts'

/** What a feed's builder is given: a view reduced to what may be used. */
export type BuildInput = {
  feed: Feed
  view: AsOfView
  columns: AsOfView['columns']
  variant: Variant
  licences: LicencePolicy
  provenance: Provenance
  mayUse(origin: number): boolean
  leftOut: readonly LeftOut[]
  nameOf(symbol: number): string | null
  kindOf(symbol: number): string | null
}

/** Rows in their order, each as the JSON members that live shows and those that vip adds. */
export type RowPlan = {
  count: number
  symbolOf(row: number): number
  /** What `min_score` compares with. */
  valueOf(row: number): number
  live(row: number): string
  vip(row: number): string
  excluded: ReadonlyMap<number, string>
  /** Share of the symbols in question for which the ranking value is known, percent. */
  coveragePct: number
  /** Members of the manifest of this feed alone. */
  notes?: Record<string, unknown>
}
