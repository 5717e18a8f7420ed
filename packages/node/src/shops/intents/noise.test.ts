import { expect, test } from 'vitest'
import { createClusterTable } from './clusters.ts'
import type { Cell } from './count-demand.ts'
import { fit, publishable } from './noise.ts'
import {
  accuracyOf,
  bucketEpsilonMicro,
  choosePlan,
  expectedError,
  ladder,
  noiseRate,
  promisedError,
  widest,
} from './plan.ts'
import { privacyStatement } from './privacy.ts'
import { seededRng } from './rng.fixture.ts'
import { parseIntentSettings } from './settings.ts'
import { simulateDay } from './simulate-signal.ts'

const clusterTable = createClusterTable()
const topics = { childrenOf: clusterTable.childrenOf, wordsOf: () => ['loan', 'bond'] }
const settings = parseIntentSettings({}, false)

/** Agents of a topic, and of all topics above it. */
function crowd(counts: Record<string, { bonded: number; others: number }>): Map<string, Cell> {
  const cells = new Map<string, Cell>()
  for (const [id, { bonded, others }] of Object.entries(counts))
    for (const at of [id, ...(clusterTable.byId.get(id)?.ancestors ?? [])]) {
      const known = cells.get(at) ?? { bonded: 0, others: 0, words: new Map([['loan', 40]]) }
      cells.set(at, { ...known, bonded: known.bonded + bonded, others: known.others + others })
    }
  return cells
}

test('with default settings the figures of a thousand agents are a signal, not noise', () => {
  const day = simulateDay(seededRng(3), settings, topics, 1_000)
  expect(day.sold).toBe(true)
  expect(day.error ?? 1).toBeLessThanOrEqual(promisedError)
  expect(day.figures).toBeGreaterThan(5)
  expect(day.covered ?? 0).toBeGreaterThan(0.9)
})

test('the simulator says from which traffic on the stream is sold, and finer plans come with more of it', () => {
  const days = [5, 300, 1_000, 10_000, 100_000, 1_000_000].map((agents) =>
    simulateDay(seededRng(7), settings, topics, agents),
  )
  expect(days[0]?.sold).toBe(false)
  const rungs = days.map(({ plan }) => ladder.indexOf(plan))
  expect(rungs).toEqual([...rungs].sort((a, b) => a - b))
  expect(rungs.at(-1)).toBeGreaterThan(rungs[1] as number)
  for (const day of days.slice(1)) expect(day.sold, String(day.agents)).toBe(true)
})

test('the bonded are never more than all, nor is what is below a topic more than the topic', () => {
  const rng = seededRng(11)
  const cells = crowd({
    '414': { bonded: 60, others: 2 },
    '411': { bonded: 20, others: 9 },
    '63': { bonded: 5, others: 40 },
  })
  const loose = parseIntentSettings({ bucket_seconds: 3_600, epsilon_daily: 24, tiers: 3 }, false)
  const plan = { bucketMs: 3_600_000, tiers: 3 }
  let seen = 0
  for (let round = 0; round < 200; round += 1) {
    const shown = new Map(publishable(rng, loose, plan, topics, cells).map((cell) => [cell.cluster, cell]))
    for (const cell of shown.values()) {
      seen += 1
      expect(cell.bonded).toBeLessThanOrEqual(cell.demand)
      expect(cell.bonded).toBeGreaterThanOrEqual(0)
      expect(cell.demand).toBeGreaterThanOrEqual(loose.k)
      const children = clusterTable.childrenOf(cell.cluster).flatMap(({ id }) => shown.get(id) ?? [])
      const sum = (part: 'demand' | 'bonded') => children.reduce((all, child) => all + child[part], 0)
      expect(sum('demand')).toBeLessThanOrEqual(cell.demand)
      expect(sum('bonded')).toBeLessThanOrEqual(cell.bonded)
      expect(cell.words.reduce((all, { demand }) => all + demand, 0)).toBeLessThanOrEqual(cell.demand)
      const above = clusterTable.byId.get(cell.cluster)?.parentId
      if (above != null) expect(shown.has(above)).toBe(true)
    }
  }
  expect(seen).toBeGreaterThan(400)
})

test('whether a topic is shown follows from its noisy figure alone: ten agents are no threshold that one agent crosses', () => {
  const plan = { bucketMs: 3_600_000, tiers: 1 }
  const loose = parseIntentSettings({ bucket_seconds: 3_600, epsilon_daily: 24, tiers: 1 }, false)
  const only = {
    ...topics,
    childrenOf: (id: string | null) => (id === null ? clusterTable.nodes.filter((node) => node.id === '52') : []),
  }
  const shownOf = (agents: number, seed: number) => {
    const rng = seededRng(seed)
    const cells = crowd({ '52': { bonded: agents, others: 0 } })
    let shown = 0
    for (let round = 0; round < 4_000; round += 1) shown += publishable(rng, loose, plan, only, cells).length
    return shown / 4_000
  }
  const [nine, ten] = [shownOf(9, 5), shownOf(10, 6)]
  expect(nine).toBeGreaterThan(0)
  // exp(epsilon of the counts), with room for the draw.
  expect(ten / nine).toBeLessThan(Math.exp(0.8) * 1.3)
})

test('an empty node publishes hardly anything', () => {
  const rng = seededRng(13)
  let shown = 0
  for (let round = 0; round < 300; round += 1) shown += publishable(rng, settings, widest, topics, new Map()).length
  expect(shown / 300).toBeLessThan(0.1)
})

test('the parts of a bucket add up to its budget, and the buckets of a day to that of the day', () => {
  for (const plan of ladder) {
    const rate = (figure: 'count' | 'word') => {
      const { num, den } = noiseRate(settings, plan, figure)
      return (Number(num) / Number(den)) * 1_000_000
    }
    const bucket = Number(bucketEpsilonMicro(settings, plan))
    expect(rate('count') * plan.tiers + rate('word')).toBeCloseTo(bucket, 3)
    expect(bucket * (86_400_000 / plan.bucketMs)).toBeLessThanOrEqual(Number(settings.epsilonDailyMicro))
    const { least, demandError } = accuracyOf(settings, plan)
    expect(least).toBeGreaterThanOrEqual(2 * demandError)
    expect(privacyStatement(settings, plan)).toMatchObject({ k: 10, tiers: plan.tiers, threshold: least })
  }
  const tiny = parseIntentSettings({ epsilon_daily: 0.0001 }, false)
  expect(() => bucketEpsilonMicro(tiny, { bucketMs: 1_000, tiers: 1 })).toThrow(RangeError)
})

test('95 of 100 figures are within their error bars', () => {
  const rng = seededRng(17)
  const { demandError, bondedError } = accuracyOf(settings, widest)
  let [demandHeld, bondedHeld, all] = [0, 0, 0]
  for (let round = 0; round < 2_000; round += 1)
    for (const cell of publishable(rng, settings, widest, topics, crowd({ '52': { bonded: 300, others: 100 } })))
      if (cell.cluster === '52') {
        all += 1
        if (Math.abs(cell.demand - 400) <= demandError) demandHeld += 1
        if (Math.abs(cell.bonded - 300) <= bondedError) bondedHeld += 1
      }
  expect(all).toBe(2_000)
  expect(demandHeld / all).toBeGreaterThan(0.93)
  expect(bondedHeld / all).toBeGreaterThan(0.93)
})

test('a plan is refined only where the promise would still be kept, and widened where traffic falls', () => {
  expect(choosePlan(settings, undefined)).toBe(widest)
  expect(choosePlan(settings, { bucketMs: 86_400_000, demands: [12, 11] })).toBe(widest)
  const busy = { bucketMs: 86_400_000, demands: [200_000, 100_000, 50_000] }
  const plan = choosePlan(settings, busy)
  expect(plan.bucketMs).toBe(3_600_000)
  expect(expectedError(settings, plan, busy)).toBeLessThanOrEqual(promisedError)
  expect(choosePlan(settings, { bucketMs: 3_600_000, demands: [250] })).toEqual(ladder[2])
})

test('parts are made smaller in proportion, and never more than the whole', () => {
  expect(fit([3, 4], 10)).toEqual([3, 4])
  expect(fit([30, 10], 20)).toEqual([15, 5])
  expect(fit([7, 7, 7], 20)).toEqual([6, 6, 6])
  expect(fit([5], 0)).toEqual([0])
})
