import { expect, test } from 'vitest'
import { renderCsv } from './render.ts'
import { sampleSnapshot } from './snapshot.fixture.ts'

test('a download of everything has the lines of its pages, in the order asked for', () => {
  const snapshot = sampleSnapshot(
    'threshold',
    'any',
    Array.from({ length: 2_100 }, (_, i) => ({
      symbol: `S${i}`,
      values: { days_on_list: i % 3 === 0 ? null : i / 7, entered: i % 2 === 0 },
      vip: { fails: i },
    })),
  )
  const head = { facts: {}, text: '' }
  const linesOf = (rows: readonly number[], tier: 'live' | 'vip') =>
    renderCsv(snapshot, { rows, nextCursor: null, unranked: {} }, tier, head)
      .toString()
      .split('\n')
      .filter((line) => !line.startsWith('#'))
  const every = Array.from({ length: 2_100 }, (_, row) => row)
  for (const tier of ['live', 'vip'] as const) {
    const [header, ...lines] = linesOf(every, tier)
    expect(lines.pop()).toBe('')
    expect(lines).toHaveLength(2_100)
    const [pageHeader, ...page] = linesOf([7, 3, 2_099], tier)
    expect([pageHeader, page]).toEqual([header, [lines[7], lines[3], lines[2_099], '']])
    expect(linesOf([...every].reverse(), tier).slice(1, -1)).toEqual([...lines].reverse())
  }
})
