// npm run kill-points -- [--path NAME] [--every N] [--workers K] [--each-call] [--json] [--list]: see docs/simulation.md.

import { parseArgs } from 'node:util'
import type { NodeVariant } from '../harness/node-variants.ts'
import { wholeNumber } from '../harness/whole-number.ts'
import { killDatabase } from './database-death.ts'
import { asJson, table, total } from './report.ts'
import { requestPaths } from './request-paths.ts'
import type { Row } from './run-deaths.ts'
import { dieAtWorks, dieInRequests } from './run-paths.ts'
import { workPaths } from './work-paths/index.ts'

const { values } = parseArgs({
  options: {
    /** Money paths by name, comma-separated; `due work` is all that no request waits for. All by default. */
    path: { type: 'string' },
    /** Every N-th death; default: each of them. */
    every: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** Also between calls that only look, and between the statements of one transaction. */
    'each-call': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
/** With --json the report alone is on standard output. */
const say = (text: string) => void (values.json ? process.stderr : process.stdout).write(`${text}\n`)
const every = wholeNumber('every', values.every, 1)
const options = { every, workers: wholeNumber('workers', values.workers, 1), eachCall: values['each-call'], say }
const databasePath = 'database'
const dueWork = 'due work'
const variants: readonly NodeVariant[] = ['shops', 'exchange']
const wanted = values.path?.split(',').map((name) => name.trim())
const isWanted = (name: string) => wanted === undefined || wanted.includes(name)
const works = workPaths.filter(({ name }) => isWanted(name) || wanted?.includes(dueWork))
const requests = requestPaths.filter(({ name }) => isWanted(name))
const names = [...requestPaths, ...workPaths].map(({ name }) => name).concat(dueWork, databasePath)

async function run(): Promise<Row[]> {
  const rows: Row[] = []
  for (const variant of variants) {
    const own = requests.filter((path) => path.variant === variant)
    rows.push(...(await dieInRequests(variant, own, options)))
  }
  for (const variant of variants) {
    const own = works.filter((path) => path.variant === variant)
    rows.push(...(await dieAtWorks(variant, own, options)))
  }
  if (isWanted(databasePath)) rows.push(await killDatabase(every, say))
  return rows
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const unknown = wanted?.filter((name) => !names.includes(name)) ?? []
if (values.list || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`no such path: ${unknown.join(', ')}\n`)
  process.stdout.write(`${names.join('\n')}\n`)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const rows = await run()
const all = total(rows)
if (values.json) process.stdout.write(`${asJson(rows)}\n`)
else say(`\n${table(rows.length > 1 ? [...rows, all] : rows)}\n`)
// Also what proved too little, although nothing was lost in it.
const broken = all.failures.length
say(broken === 0 ? 'nothing lost, nothing doubled' : `${broken} broken: ${all.lost} lost, ${all.doubled} doubled`)
process.exit(broken === 0 ? 0 : 1)
