import { mkdir, rm } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { type Comparison, type Figure, isReached, pooled } from './figures/figure.ts'
import { measureFreeRead } from './figures/free-read.ts'
import { measurePaid } from './figures/paid.ts'
import { measureSettling } from './figures/settling.ts'
import { type Effort, openSetup } from './figures/setup.ts'
import { measureUnpaid } from './figures/unpaid.ts'
import { temporaryHome } from './process/temporary-home.ts'
import { jsonOf, rowOf, tableOf } from './report.ts'
import { reportFigures } from './report-figures.ts'

const usual: Effort = {
  starts: 3,
  rounds: 3,
  warmRequests: 12_000,
  warmSeconds: 3,
  seconds: 0.7,
  payments: 1_500,
  settleRounds: 5,
}
const quick: Effort = {
  starts: 1,
  rounds: 3,
  warmRequests: 4_000,
  warmSeconds: 2,
  seconds: 0.3,
  payments: 400,
  settleRounds: 2,
}

const usage = `npm run bench:till [-- --quick] [-- --json]
  --quick  a short run that shows whether everything works; its ratios say little
  --json   the result as JSON on standard output
`

/** Returns the exit code: 1 when a required ratio was missed. */
export async function runBench(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => !['--quick', '--json'].includes(arg))
  if (unknown.length > 0) {
    process.stderr.write(usage)
    return unknown.includes('--help') ? 0 : 2
  }
  const say = (text: string) => process.stderr.write(`${text}\n`)
  const effort = args.includes('--quick') ? quick : usual
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
  const home = await temporaryHome()
  try {
    const figures = await measureAll(home, effort, say)
    reportFigures(...figures.map(rowOf))
    process.stdout.write(`${args.includes('--json') ? jsonOf(figures) : tableOf(figures)}\n`)
    return figures.every(isReached) ? 0 : 1
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function measureAll(home: string, effort: Effort, say: (text: string) => void): Promise<Figure[]> {
  const starts: Comparison[][] = []
  for (let start = 1; start <= effort.starts; start += 1) {
    say(`start ${start} of ${effort.starts}`)
    starts.push(await measureStart(join(home, `node-${start}`), effort, say))
  }
  say('settling on the embedded chain ...')
  await mkdir(join(home, 'settling'), { mode: 0o711 })
  return [...pooled(starts), ...(await measureSettling(home, effort.settleRounds))]
}

async function measureStart(home: string, effort: Effort, say: (text: string) => void): Promise<Comparison[]> {
  await mkdir(home, { mode: 0o711 })
  const setup = await openSetup(home, effort)
  try {
    say('  unpaid requests ...')
    const unpaid = await measureUnpaid(setup)
    say('  free reads ...')
    const free = await measureFreeRead(setup)
    say('  purchases ...')
    return [...unpaid, ...free, ...(await measurePaid(setup))]
  } finally {
    await setup.stop()
  }
}
