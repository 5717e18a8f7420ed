import { expect, test } from 'vitest'
import { smallBounds } from './bounds.ts'
import { explore } from './explore.ts'

/** The small bounds; `npm run model` goes further. */
test.each(smallBounds)('every interleaving holds: $name', (bound) => {
  const { states, transitions, rests, violation, complete } = explore(bound)
  const trace =
    violation && [violation.what, ...violation.trace.map((line, index) => `${index + 1}. ${line}`)].join('\n')
  expect(trace).toBeUndefined()
  expect(complete).toBe(true)
  expect(rests).toBeGreaterThan(0)
  process.stdout.write(`${bound.name}: ${states} states, ${transitions} transitions, ${rests} at rest\n`)
})
