import { expect, test } from 'vitest'
import type { PlacedBatch } from './integrate.ts'
import { recentBatches } from './open-log.ts'

const batchOf = (from: number, ...subjects: string[]) =>
  ({ from, leaves: subjects.map((subject) => ({ subject })), head: {}, tiles: new Map() }) as unknown as PlacedBatch

test('only the last batches are kept, however few leaves each of them has', () => {
  const recent = recentBatches({ batchesMax: 3 })
  for (let n = 0; n < 10; n += 1) recent.add(batchOf(2 * n, `a${n}`, `b${n}`))
  expect([0, 6, 7, 9].map((n) => recent.find(`b${n}`)?.index)).toEqual([undefined, undefined, 15, 19])
})

test('a subject that came again is found where it came last', () => {
  const recent = recentBatches({ batchesMax: 2 })
  recent.add(batchOf(0, 'same'))
  recent.add(batchOf(1, 'same'))
  recent.add(batchOf(2, 'other'))
  expect(recent.find('same')?.index).toBe(1)
})

test('large batches go sooner, and the last one stays', () => {
  const recent = recentBatches({ leavesMax: 4 })
  recent.add(batchOf(0, 'a', 'b', 'c'))
  recent.add(batchOf(3, 'd', 'e'))
  expect([recent.find('a'), recent.find('d')?.index]).toEqual([undefined, 3])
  recent.add(batchOf(5, 'f', 'g', 'h', 'i', 'j'))
  expect([recent.find('d'), recent.find('j')?.index]).toEqual([undefined, 9])
})
