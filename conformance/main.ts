// npm run conformance: starts every subject, checks it, and prints the table of docs/conformance.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { levels } from '../packages/conformance/src/case.ts'
import type { Report } from '../packages/conformance/src/index.ts'
import { checkSubject } from './check-subject.ts'
import { replaceTable } from './replace-table.ts'
import { type Subject, subjects } from './subjects.ts'

const { values } = parseArgs({
  options: {
    ...{ only: { type: 'string' }, write: { type: 'boolean' } },
    ...{
      'self-test': { type: 'boolean' },
      parallel: { type: 'string' },
      rows: { type: 'string' },
      resume: { type: 'string' },
    },
  },
})
const only = values.only?.split(',')
const parallel = Number(values.parallel ?? 3)
if (values['self-test']) {
  const { runSelfTest } = await import('./self-test.ts')
  process.exit(
    await runSelfTest({ parallel, only, resume: values.resume, rows: values.rows ? Number(values.rows) : undefined }),
  )
}

const root = join(import.meta.dirname, '..')
const versionOf = ({ package: name, ours }: Subject): string => {
  const file = ours ? join(root, 'package.json') : join(root, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** For software of others only the level is reported. */
function row(subject: Subject, { counts, reached, at }: Report): string {
  const details = subject.ours
    ? `${counts.passed} passed, ${counts.failed} failed, ${counts.unclear} unclear, ${counts.skipped} skipped`
    : ''
  return `| ${subject.title} | ${versionOf(subject)} | ${at.slice(0, 10)} | ${reached ?? 'none'} | ${details} |`
}

const reports = new Map<Subject, Report>()
const chosen = subjects.filter(({ id }) => only?.includes(id) ?? true)
// Those that take longest are the last in the list.
const waiting = [...chosen].reverse()
await Promise.all(
  Array.from({ length: Math.min(parallel, chosen.length) }, async () => {
    for (let subject = waiting.shift(); subject; subject = waiting.shift()) {
      const report = await checkSubject(subject)
      reports.set(subject, report)
      process.stderr.write(`${row(subject, report)}\n`)
    }
  }),
)

let code = 0
const rows = chosen.flatMap((subject) => {
  const report = reports.get(subject)
  if (report === undefined) return []
  if (subject.ours) {
    for (const one of report.cases.filter(({ verdict }) => verdict !== 'passed'))
      process.stderr.write(`${subject.title}: ${one.id} ${one.verdict}: ${one.seen}\n`)
    if (report.counts.failed > 0 || report.reached !== levels.at(-1)) code = 1
  }
  return [row(subject, report)]
})
const table = ['| seller | version | date | level reached | cases |', '|---|---|---|---|---|', ...rows].join('\n')
process.stdout.write(`${table}\n`)
if (values.write) {
  const file = join(root, 'docs', 'conformance.md')
  writeFileSync(file, replaceTable(readFileSync(file, 'utf8'), table))
}
process.exit(code)
