import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClassifier } from './classify.ts'
import { createClusterBook, parseTaxonomy } from './clusters.ts'
import { countDemand, type PaidSearch } from './count-demand.ts'
import { themes } from './demo/themes.ts'
import { addNoise, bucketEpsilonMicro, noiseRate, privacyStatement } from './privacy.ts'
import { seededRng } from './rng.fixture.ts'
import { parseIntentSettings } from './settings.ts'
import { eventId, parseEventId, smooth } from './tick-event.ts'

const own = [{ id: 'x402', name: 'Agent payments', parent: '52', terms: ['x402', 'facilitator'] }]
const book = createClusterBook(own)
const classifier = createClassifier(book)
const search = (agent: string, query: string, bonded = false): PaidSearch => ({ agent, query, bonded })

test('the taxonomy has its tiers, and what it marks as sensitive is not counted', () => {
  expect(book.nodes.filter(({ source }) => source === 'iab').length).toBeGreaterThan(600)
  expect(book.byId.get('414')).toMatchObject({ name: 'Stocks and Bonds', tier: 3, ancestors: ['410', '391'] })
  expect(book.byId.get('x402')).toMatchObject({ tier: 2, source: 'operator', parentId: '52' })
  for (const name of ['Medical Health', 'Religion & Spirituality', 'Bereavement'])
    expect(book.nodes.some((node) => node.name === name)).toBe(false)
  expect(parseTaxonomy('# note\n1||One\n2|1|Two|!\n')).toEqual([
    { id: '1', parent: null, name: 'One', sensitive: false },
    { id: '2', parent: '1', name: 'Two', sensitive: true },
  ])
})

test.each([
  [[{ id: '52', name: 'Twice' }], /named twice/],
  [[{ id: 'a', name: 'A', parent: 'nowhere' }], /not known/],
  [
    [
      { id: 'a', name: 'A', parent: 'b' },
      { id: 'b', name: 'B', parent: 'a' },
    ],
    /below itself/,
  ],
])('own topics that do not fit are refused: %j', (list, message) => {
  expect(() => createClusterBook(list)).toThrow(message)
})

test('a question is counted for its topic and what that lies below', () => {
  expect(classifier.classify('are stocks and bonds overvalued', 5)).toEqual(['414', '410', '391'])
  expect(classifier.classify('which facilitator for x402', 5)).toEqual(['x402', '52'])
  expect(classifier.classify('zzzz qqqq', 5)).toEqual([])
  for (const { cluster, queries } of themes)
    for (const query of queries) expect(classifier.classify(query, 5), query).toContain(cluster)
})

test('an agent counts once in a topic and in few topics, however often and whatever it asks', () => {
  const words = book.nodes.slice(0, 60).map(({ name }) => name)
  fc.assert(
    fc.property(
      fc.array(fc.record({ agent: fc.constantFrom('a', 'b', 'c'), query: fc.constantFrom(...words) }), {
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 5 }),
      (given, perAgent) => {
        const all = given.map(({ agent, query }) => search(agent, query))
        const cells = countDemand(all, classifier, perAgent)
        const agents = new Set(all.map(({ agent }) => agent)).size
        expect(cells.every((cell) => cell.agents <= agents && cell.bonded <= cell.agents)).toBe(true)
        expect(cells.reduce((sum, cell) => sum + cell.agents, 0)).toBeLessThanOrEqual(agents * perAgent)
        // Taking one agent away changes no figure by more than one, and few of them.
        const without = new Map(
          countDemand(
            all.filter(({ agent }) => agent !== 'a'),
            classifier,
            perAgent,
          ).map((cell) => [cell.cluster, cell]),
        )
        const changes = cells.map((cell) => cell.agents - (without.get(cell.cluster)?.agents ?? 0))
        expect(changes.every((change) => change === 0 || change === 1)).toBe(true)
        expect(changes.filter((change) => change === 1).length).toBeLessThanOrEqual(perAgent)
        const said = cells.flatMap((cell) => [...cell.words.values()]).reduce((sum, count) => sum + count, 0)
        expect(said).toBeLessThanOrEqual(agents * perAgent)
      },
    ),
    { numRuns: 40 },
  )
})

test('only words of the topics are ever named, never what else was asked', () => {
  const cells = countDemand(
    [search('a', 'stocks and bonds of 0x1234567890abcdef1234567890abcdef12345678 and Jane Doe')],
    classifier,
    5,
  )
  for (const cell of cells) for (const word of cell.words.keys()) expect(['stocks', 'bonds']).toContain(word)
})

test('nine agents are not published, nor is a figure that the noise brought below the threshold', () => {
  const settings = parseIntentSettings({}, true)
  const rng = seededRng(5)
  const cell = (agents: number, bonded: number) => ({
    cluster: '52',
    agents,
    bonded,
    words: new Map([['business', 9]]),
  })
  for (let i = 0; i < 500; i += 1) {
    expect(addNoise(rng, settings, cell(9, 9))).toBeUndefined()
    const noisy = addNoise(rng, settings, cell(12, 9))
    if (!noisy) continue
    expect(noisy.demand).toBeGreaterThanOrEqual(10)
    expect(noisy.bonded).toBeNull()
    expect(noisy.words).toEqual([])
  }
})

test('the parts of a bucket add up to its budget, and the buckets of a day to that of the day', () => {
  for (const given of [{}, { epsilon_daily: 7.5, bucket_seconds: 60 }, { clusters_per_agent: 2 }]) {
    const settings = parseIntentSettings(given, false)
    const parts = (['demand', 'bonded', 'words'] as const).map((figure) => {
      const { num, den } = noiseRate(settings, figure)
      return (Number(num) / Number(den)) * settings.clustersPerAgent * 1_000_000
    })
    const bucket = Number(bucketEpsilonMicro(settings))
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(bucket, 3)
    expect(bucket * (86_400_000 / settings.bucketMs)).toBeLessThanOrEqual(Number(settings.epsilonDailyMicro))
    expect(privacyStatement(settings).k).toBe(10)
  }
  expect(() => bucketEpsilonMicro(parseIntentSettings({ epsilon_daily: 0.0001, bucket_seconds: 1 }, false))).toThrow(
    RangeError,
  )
})

test.each([
  [{ k: 9 }, /k/],
  [{ bucket_seconds: 7 }, /divide a day/],
  [{ replay_hours: 23 }, /replay_hours/],
  [{ nonsense: 1 }, /nonsense/],
])('settings that would weaken the promise are refused: %j', (given, message) => {
  expect(() => parseIntentSettings(given, false)).toThrow(message)
})

test('an id of the stream is read back, and nothing else is', () => {
  fc.assert(
    fc.property(fc.nat(), (seq) => {
      expect(parseEventId(eventId(seq))).toBe(seq)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      const seq = parseEventId(text)
      if (seq !== undefined) expect(eventId(seq)).toBe(text)
    }),
  )
  for (const text of ['', '1', '1-5', '0-', '0--1', '0-01', '0-1e3', '0-9999999999999999'])
    expect(parseEventId(text)).toBeUndefined()
})

test('smoothing halves what was known after its half-life, however the time in between was cut', () => {
  const before = { demand: 40, ewma: 40, endsAtMs: 0, words: new Map() }
  expect(smooth(undefined, 17, 1_000, 6_000)).toBe(17)
  expect(smooth(before, 0, 6_000, 6_000)).toBeCloseTo(20)
  const half = smooth(before, 0, 3_000, 6_000)
  expect(smooth({ ...before, ewma: half, endsAtMs: 3_000 }, 0, 6_000, 6_000)).toBeCloseTo(20, 4)
  // A clock that went back must not make it grow.
  expect(smooth(before, 10, -5_000, 6_000)).toBe(40)
})
