import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Played } from './play-seed.ts'
import { type Batch, isPlayed, withPlayed } from './results.ts'

const played = (seed: number, held: boolean) =>
  ({
    seed: String(seed),
    seconds: 1,
    lines: [],
    held,
    seen: { orders: 2 },
    regression: { found: 'I1' },
  }) as unknown as Played

test('seeds in any order leave the rows of those that held, and only those are not played again', () => {
  const seeds = fc.uniqueArray(fc.record({ seed: fc.integer({ min: 1, max: 60 }), held: fc.boolean() }), {
    selector: ({ seed }) => seed,
  })
  fc.assert(
    fc.property(seeds, (all) => {
      let batches: Batch[] = []
      for (const { seed, held } of all) batches = withPlayed(batches, 'abc', 200, played(seed, held))
      const holding = all.filter(({ held }) => held).map(({ seed }) => seed)
      for (let seed = 0; seed <= 61; seed += 1) expect(isPlayed(batches, 200, seed)).toBe(holding.includes(seed))
      expect(isPlayed(batches, 100, holding[0] ?? 1)).toBe(false)
      const [batch] = batches
      expect(batch?.seen['orders'] ?? 0).toBe(2 * holding.length)
      // No two rows touch.
      const rows = batch?.held ?? []
      expect(rows.every(([first], place) => place === 0 || first > (rows[place - 1]?.[1] ?? 0) + 1)).toBe(true)
      expect(batch?.broken.length ?? 0).toBe(all.length - holding.length)
    }),
  )
})

test('a seed that broke and holds with a later version counts as played', () => {
  const batches = withPlayed(withPlayed([], 'old', 200, played(5, false)), 'new', 200, played(5, true))
  expect(isPlayed(batches, 200, 5)).toBe(true)
  expect(batches.map(({ commit }) => commit)).toEqual(['old', 'new'])
})
