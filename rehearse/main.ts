// npm run rehearse: an operator's first day in production mode, against a simulated outside world. See docs/rehearsal.md.
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { closeOnSignal } from '../bench/process/on-signal.ts'
import { createReport, tableOf } from './report.ts'
import { backUpAndRestore } from './steps/back-up-and-restore.ts'
import { beginEmpty } from './steps/begin-empty.ts'
import { breakProviders } from './steps/break-providers.ts'
import { importData } from './steps/import-data.ts'
import { sellEverything } from './steps/sell-everything.ts'
import { upgrade } from './steps/upgrade.ts'
import { withdraw } from './steps/withdraw.ts'
import { openWorld, type World } from './world.ts'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    postgres: { type: 'string', default: '' },
    log: { type: 'string', default: '' },
    steps: { type: 'string', default: '' },
    plant: { type: 'string', default: '' },
  },
})
const steps = [beginEmpty, importData, sellEverything, breakProviders, withdraw, backUpAndRestore, upgrade]
const plants = ['publishers', 'proof', 'facilitator', 'rpc', 'honest', 'withdrawal', 'restore', 'upgrade']
const wanted = values.steps === '' ? steps.map((_, index) => index + 1) : values.steps.split(',').map(Number)
if (values.plant !== '' && !plants.includes(values.plant)) throw new Error(`--plant: one of ${plants.join(', ')}`)
if (wanted[0] !== 1 || wanted.some((step) => steps[step - 1] === undefined))
  throw new Error(`--steps: numbers from 1 to ${steps.length}, the first being 1, such as 1,4`)
const say = (text: string) => process.stderr.write(`${text}\n`)
const report = createReport(say)
let world: World | undefined
const stopListening = closeOnSignal(async () => world?.close())
let problem: string | undefined
try {
  world = await openWorld({ postgres: values.postgres, say })
  for (const step of wanted) await steps[step - 1]?.(world, report, values.plant)
} catch (error) {
  // A step that the others need did not come to its end.
  problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
  say(`\nended early: ${problem}`)
} finally {
  stopListening()
  if (values.log && world) await copyFile(join(world.home, 'node.log'), values.log)
  await world?.close()
}
const failed = report.lines.filter(({ verdict }) => verdict === 'failed').length
const passed = report.lines.filter(({ verdict }) => verdict === 'passed').length
say(`\n${tableOf(report.lines)}\n\n${passed} passed, ${failed} failed`)
if (values.json)
  process.stdout.write(
    `${JSON.stringify({ passed, failed, problem: problem ?? null, lines: report.lines }, null, 2)}\n`,
  )
process.exitCode = failed === 0 && problem === undefined ? 0 : 1
