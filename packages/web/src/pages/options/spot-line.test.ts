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

test('labels of close strikes leave each other room, and the chosen one has its own', () => {
  const history = [{ index: '50' }, { index: '150' }]
  const strikes = [70, 75, 80, 85, 90, 95, 100, 105, 110]
  const line = spotLine(history, strikes, 90, { width: 640, height: 180, edge: 14 })
  const labelled = line?.strikes.filter((mark) => mark.labelled) ?? []
  expect(line?.strikes).toHaveLength(strikes.length)
  expect(labelled.map(({ strike }) => strike)).toContain(90)
  const heights = labelled.map(({ y }) => y).sort((a, b) => a - b)
  for (const [at, y] of heights.slice(1).entries()) expect(y - (heights[at] ?? 0)).toBeGreaterThanOrEqual(18)
})
