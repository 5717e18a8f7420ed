import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClassifier } from './classify.ts'
import { createClusterTable, parseTaxonomy } from './clusters.ts'
import { type Cell, countDemand, type PaidSearch } from './count-demand.ts'
import { themes } from './demo/themes.ts'
import { parseIntentSettings } from './settings.ts'
import { eventId, parseEventId, smooth } from './tick-event.ts'

const own = [{ id: 'x402', name: 'Agent payments', parent: '52', terms: ['x402', 'facilitator'] }]
const clusterTable = createClusterTable(own)
const classifier = createClassifier(clusterTable)
const search = (agent: string, query: string, bonded = false): PaidSearch => ({ agent, query, bonded })

test('the taxonomy has its tiers, and what it marks as sensitive is not counted', () => {
  expect(clusterTable.nodes.filter(({ source }) => source === 'iab').length).toBeGreaterThan(600)
  expect(clusterTable.byId.get('414')).toMatchObject({ name: 'Stocks and Bonds', tier: 3, ancestors: ['410', '391'] })
  expect(clusterTable.byId.get('x402')).toMatchObject({ tier: 2, source: 'operator', parentId: '52' })
  for (const name of ['Medical Health', 'Religion & Spirituality', 'Bereavement'])
    expect(clusterTable.nodes.some((node) => node.name === name)).toBe(false)
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
  expect(() => createClusterTable(list)).toThrow(message)
})

test('a question is counted for its topic and those above it', () => {
  const ids = (query: string) => classifier.classify(query).map(({ id }) => id)
  expect(ids('are stocks and bonds overvalued')).toEqual(['391', '410', '414'])
  expect(ids('which facilitator for x402')).toEqual(['52', 'x402'])
  expect(ids('zzzz qqqq')).toEqual([])
  const plain = createClassifier(createClusterTable())
  for (const { cluster, queries } of themes)
    for (const query of queries)
      expect(
        plain.classify(query).map(({ id }) => id),
        query,
      ).toContain(cluster)
})

test('an agent counts once in each tier, however often and whatever it asks, and topics add up to those above them', () => {
  const words = clusterTable.nodes.slice(0, 60).map(({ name }) => name)
  const agentsOf = (cell: Cell | undefined) => (cell?.bonded ?? 0) + (cell?.others ?? 0)
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ agent: fc.constantFrom('a', 'b', 'c'), query: fc.constantFrom(...words), bonded: fc.boolean() }),
        { maxLength: 60 },
      ),
      fc.integer({ min: 1, max: 4 }),
      (all, tiers) => {
        const cells = countDemand(all, classifier, tiers)
        const without = countDemand(
          all.filter(({ agent }) => agent !== 'a'),
          classifier,
          tiers,
        )
        for (const [id, cell] of cells) {
          const below = clusterTable.childrenOf(id).reduce((sum, child) => sum + agentsOf(cells.get(child.id)), 0)
          expect(below).toBeLessThanOrEqual(agentsOf(cell))
        }
        for (const tier of [1, 2, 3, 4]) {
          const changes = [...cells]
            .filter(([id]) => clusterTable.byId.get(id)?.tier === tier)
            .map(([id, cell]) => agentsOf(cell) - agentsOf(without.get(id)))
          // Taking one agent away changes one figure of a tier by one, and none of those that are not counted.
          expect(changes.every((change) => change === 0 || change === 1)).toBe(true)
          expect(changes.filter((change) => change === 1).length).toBeLessThanOrEqual(tier <= tiers ? 1 : 0)
        }
        const said = [...cells.values()].flatMap((cell) => [...cell.words.values()]).reduce((sum, n) => sum + n, 0)
        expect(said).toBeLessThanOrEqual(new Set(all.map(({ agent }) => agent)).size)
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
  for (const cell of cells.values()) for (const word of cell.words.keys()) expect(['stocks', 'bonds']).toContain(word)
})

test.each([
  [{ k: 9 }, /k/],
  [{ bucket_seconds: 7 }, /divide a day/],
  [{ replay_hours: 23 }, /replay_hours/],
  [{ tiers: 2 }, /bucket_seconds/],
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
