import { parseArgs } from 'node:util'
import { wholeNumber } from '../harness/whole-number.ts'
import { fullBounds, smallBounds } from './bounds.ts'
import { explore } from './explore.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, small: { type: 'boolean' }, states: { type: 'string' } },
})
const chosen = (values.small ? smallBounds : [...smallBounds, ...fullBounds]).filter(
  ({ name }) => values.only === undefined || name.includes(values.only),
)
if (chosen.length === 0) throw new Error(`no bound has "${values.only}" in its name`)
let states = 0

/** A bound may take minutes: a line on standard error every ten seconds. */
function showLevel(name: string) {
  let shownMs = performance.now()
  return ({ depth, states, waiting }: { depth: number; states: number; waiting: number }) => {
    if (performance.now() - shownMs < 10_000) return
    shownMs = performance.now()
    console.error(`  ${name}: depth ${depth}, ${states} states, ${waiting} waiting`)
  }
}

for (const bound of chosen) {
  const startedMs = process.cpuUsage().user / 1_000
  const found = explore(bound, {
    ...(values.states === undefined ? {} : { statesMax: wholeNumber('states', values.states, 1) }),
    onLevel: showLevel(bound.name),
  })
  const seconds = ((process.cpuUsage().user / 1_000 - startedMs) / 1_000).toFixed(1)
  const extent = `${found.states} states, ${found.transitions} transitions, ${found.idleStates} idle, depth ${found.depth}`
  const end = found.violation ? 'VIOLATION' : found.complete ? 'holds' : 'stopped early'
  const megabytes = Math.round(process.memoryUsage().rss / 1e6)
  console.log(`${bound.name}: ${end}; ${extent}, ${seconds} s CPU, ${megabytes} MB`)
  states += found.states
  if (!found.complete) process.exitCode = 1
  if (!found.violation) continue
  console.log(`  ${found.violation.what}`)
  for (const [index, line] of found.violation.trace.entries()) console.log(`  ${index + 1}. ${line}`)
}
console.log(`${states} states in ${chosen.length} bounds`)
