import { expect, test } from 'vitest'
import { spotLine } from './spot-line.ts'

const frame = { width: 120, height: 120, edge: 10 }

test('the chosen strike is always in the picture, others where they are near, and a higher index is further up', () => {
  const line = spotLine([{ index: '100.0000' }, { index: '104.0000' }], [95, 105, 150], 105, frame)
  expect(line?.strikes.map(({ strike }) => strike)).toEqual([105])
  const [first, last] = (line?.points.split(' ') ?? []).map((point) => point.split(',').map(Number))
  expect([first?.[0], last?.[0]]).toEqual([10, 110])
  expect((first?.[1] ?? 0) > (last?.[1] ?? 0)).toBe(true)
  expect((last?.[1] ?? 0) > (line?.strikes[0]?.y ?? 0)).toBe(true)
  expect(spotLine([{ index: '100.0000' }], [95], 95, frame)).toBeUndefined()
})
