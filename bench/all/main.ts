// npm run bench: every bench after the other, their figures gathered in docs/benchmarks.md. Exit code 1 when one asked
// for was not reached.
import { parseArgs } from 'node:util'
import { readOrigin, updateRecord } from '../record.ts'
import { type Bench, benches } from './benches.ts'
import { type Result, type Results, tableOf } from './document.ts'
import { runOne } from './run-one.ts'
import { readVersions } from './versions.ts'

const namesOf = (some: readonly Bench[]) => some.map(({ name }) => name)
const names = namesOf(benches)
const usage = `npm run bench [-- --only tokens,faces] [-- --core] [-- --quick] [-- --no-write]
  --only      some of: ${names.join(', ')}
  --core      ${namesOf(benches.filter(({ core }) => core)).join(', ')}: under twenty minutes
  --quick     shorter runs, whose figures say little and are never written
  --no-write  leaves docs/benchmarks.md as it is
`

export async function runAll(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      core: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      'no-write': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const only = values.only?.split(',').map((name) => name.trim())
  const unknown = only?.filter((name) => !names.includes(name)) ?? []
  if (values.help || unknown.length > 0) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  const isWritten = !values.quick && !values['no-write']
  const results: Results = {}
  const origin = readOrigin()
  let reached = true
  const isWanted = ({ name, core }: Bench) => (only?.includes(name) ?? true) && (core || !values.core)
  for (const bench of benches.filter(isWanted)) {
    process.stderr.write(`${bench.name} ... `)
    const ran = await runOne(bench, values.quick)
    const missed = ran.rows.filter((row) => row.reached === false).length
    const trouble = ran.late
      ? `stopped after ${bench.minutesMax} minutes`
      : ran.exitCode !== 0 && missed === 0
        ? `ended with ${ran.exitCode}`
        : null
    process.stderr.write(
      `${ran.seconds} s, ${ran.rows.length} figures${missed > 0 ? `, ${missed} not reached` : ''}${trouble ? `, ${trouble}: see ${ran.log}` : ''}\n`,
    )
    reached &&= missed === 0 && trouble === null
    const result: Result = {
      command: bench.command,
      ...origin,
      // After it: a bench may have installed a server.
      versions: await readVersions(),
      seconds: ran.seconds,
      trouble,
      rows: ran.rows,
    }
    results[bench.name] = result
    // After each: a run that is broken off keeps what it has.
    if (isWritten)
      updateRecord<Result>(
        'benchmarks',
        (all) => {
          all[bench.name] = result
        },
        (all) => [tableOf(all)],
      )
  }
  process.stdout.write(`${tableOf(results)}\n`)
  return reached ? 0 : 1
}
