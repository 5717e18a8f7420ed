import { expect, test } from 'vitest'
import { fullBounds, smallBounds } from './bounds.ts'
import { explore } from './explore.ts'

/** The small bounds; `npm run model` goes further. */
test.each(smallBounds)('every interleaving holds: $name', (bound) => {
  const { states, transitions, idleStates, violation, complete, unused } = explore(bound)
  const trace =
    violation && [violation.what, ...violation.trace.map((line, index) => `${index + 1}. ${line}`)].join('\n')
  expect(trace).toBeUndefined()
  expect(complete).toBe(true)
  expect(unused).toEqual([])
  expect(idleStates).toBeGreaterThan(0)
  process.stdout.write(`${bound.name}: ${states} states, ${transitions} transitions, ${idleStates} idle\n`)
})

test('buyers of whom only one order is explored differ in nothing but their names', () => {
  const alike = [...smallBounds, ...fullBounds].filter((bound) => bound.alike)
  expect(alike).toHaveLength(3)
  for (const { authorizations, sends, carried } of alike) {
    const unnamed = authorizations.map((one) => JSON.stringify({ ...one, id: '', key: '', payer: '' }))
    expect(new Set(unnamed).size).toBe(1)
    expect(new Set(Object.values(sends)).size).toBe(1)
    expect(Object.keys(sends)).toEqual(authorizations.map(({ id }) => id))
    expect(carried).toEqual([])
  }
})
