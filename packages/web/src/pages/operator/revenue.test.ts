import { expect, test } from 'vitest'
import { netByDay } from './revenue.tsx'

test('revenue is summed by day, with the days between that had none', () => {
  const rows = [
    { day: '2026-01-03', net_micro: '5' },
    { day: '2026-01-01', net_micro: '2' },
    { day: '2026-01-03', net_micro: '-1' },
  ]
  expect(netByDay(rows)).toEqual([
    { day: '2026-01-01', micro: 2n },
    { day: '2026-01-02', micro: 0n },
    { day: '2026-01-03', micro: 4n },
  ])
  expect(netByDay([])).toEqual([])
})
