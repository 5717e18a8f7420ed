import { parseArgs } from 'node:util'
import { smallBounds } from './bounds.ts'
import { explore } from './explore.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, max: { type: 'string' } } })
for (const bound of smallBounds.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
  const startedMs = process.cpuUsage().user / 1000
  const found = explore(bound, values.max === undefined ? undefined : Number(values.max))
  const ms = Math.round(process.cpuUsage().user / 1000 - startedMs)
  console.log(
    `${bound.name}: ${found.states} states, ${found.transitions} transitions, ${found.rests} at rest, depth ${found.depth}, complete ${found.complete}, ${ms} ms, ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  )
  if (found.violation) {
    console.log(`VIOLATION: ${found.violation.what}`)
    for (const [index, line] of found.violation.trace.entries()) console.log(`  ${index + 1}. ${line}`)
  }
}
