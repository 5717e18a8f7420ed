import { expect, test } from 'vitest'
import { feeds } from './catalogue.ts'
import type { FeedId } from './feed.ts'
import type { BuildInput } from './row-plan.ts'
import { planHalts, recipes } from './simple.ts'

const declared = (id: FeedId) => feeds[id].columns.map(({ name, tier }) => `${tier} ${name}`).sort()

test.each(Object.keys(recipes) as FeedId[])('%s: every value of a row is a column with its unit and tier', (id) => {
  const shown = recipes[id]?.shown(() => new Float64Array(1), 1) ?? []
  expect(shown.map((one) => `${one?.vip ? 'vip' : 'live'} ${one?.name}`).sort()).toEqual(declared(id))
})

test('halts: every value of a row is a column with its unit and tier', () => {
  const halt = {
    symbol: 0,
    reason: 'T1',
    market: 'Q',
    haltedAtMs: 1,
    quoteAtMs: 2,
    tradeAtMs: 3,
    pausePrice: 4,
    origin: 0,
  }
  const plan = planHalts({
    view: { halts: [halt] },
    mayUse: () => true,
    provenance: { tailOfOrigin: () => '}' },
  } as unknown as BuildInput)
  const { values, details } = JSON.parse(`{${plan.live(0)},${plan.vip(0)}}`)
  const shown = [
    ...Object.keys(values).map((name) => `live ${name}`),
    ...Object.keys(details).map((name) => `vip ${name}`),
  ]
  expect(shown.sort()).toEqual(declared('halts'))
})
