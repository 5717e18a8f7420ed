import { expect, test } from 'vitest'
import { topicsOf } from './topics.ts'

const tick = (id: string, demand: number) => ({
  type: 'market.intent.tick.v1',
  data: {
    cluster: { id, name: `Topic ${id}`, parent: null, tier: 1, source: 'iab' },
    demand,
    trend: { ewma: 1, change_pct: null },
    rising: [{ term: 'usdc', demand: 3, change_pct: null }],
  },
})

test('ticks of one topic make its course, and the most wanted topic comes first', () => {
  const topics = topicsOf([tick('1', 10), tick('2', 30), tick('1', 12)])
  expect(topics.map(({ id, demand, newest, course }) => ({ id, demand, newest, course }))).toEqual([
    { id: '2', demand: 30, newest: 30, course: [30] },
    { id: '1', demand: 22, newest: 12, course: [10, 12] },
  ])
  expect(topics[0]?.rising).toEqual(['usdc'])
})

test('what is no tick is passed over', () => {
  expect(
    topicsOf([
      { type: 'market.intent.bucket.v1', data: {} },
      { type: 'market.intent.tick.v1', data: { demand: 'many' } },
    ]),
  ).toEqual([])
})
