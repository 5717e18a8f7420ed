import type { SourceId } from '../sources/source.ts'

export const feedIds = [
  'squeeze',
  'equities',
  'etf',
  'short-volume',
  'short-interest',
  'ftd',
  'threshold',
  'borrow',
  'halts',
  'institutional',
] as const

export type FeedId = (typeof feedIds)[number]

export const isFeedId = (text: string): text is FeedId => (feedIds as readonly string[]).includes(text)

export type FeedColumn = { name: string; unit: string; meaning: string; tier: 'live' | 'vip' }

export type Feed = {
  id: FeedId
  title: string
  method: string
  /** What the rows are ordered by. */
  rankedBy: string
  cadence: string
  /** Without any of these nothing can be shown. */
  needs: readonly SourceId[]
  /** Beside those, what makes it better. */
  uses: readonly SourceId[]
  columns: readonly FeedColumn[]
}

export const column = (name: string, unit: string, meaning: string, tier: 'live' | 'vip' = 'live'): FeedColumn => ({
  name,
  unit,
  meaning,
  tier,
})
