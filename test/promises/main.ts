// npm run promises -- [--only name,name] [--size asked|test] [--record] [--list]: every promise shown. Exit code 1 when one of them is broken.
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { registryEnv } from '../../bench/process/registry-env.ts'
import { readOrigin, updateRecord } from '../../bench/record.ts'
import { together } from '../harness/until.ts'
import { type Recorded, tableOf } from './recorded.ts'
import { type Command, type Row, rows, type Size } from './rows.ts'

const usage = `npm run promises [-- --only name,name] [-- --size asked|test] [-- --record] [-- --list]
  --only    some of them: ${rows.map(({ name }) => name).join(', ')}
  --size    asked: as large as promised, one after the other, hours in all; test: two at once, minutes in all, to see that each
            command works (test)
  --record  writes what was seen into the table of docs/promises.md
  --list    what would be run
`
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    size: { type: 'string', default: 'test' },
    record: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const only = values.only?.split(',').map((name) => name.trim())
const unknown = (only ?? []).filter((name) => !rows.some((row) => row.name === name))
if (values.help || unknown.length > 0 || (values.size !== 'asked' && values.size !== 'test')) {
  process.stderr.write(usage)
  process.exit(values.help ? 0 : 2)
}
const size: Size = values.size
const say = (text: string) => process.stdout.write(`${text}\n`)
const figuresKept = 6
const origin = readOrigin()

/** A clean environment: what a test runner or a shell has set must not reach the nodes that are started. */
const ownEnv = {
  ...registryEnv(),
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
  NO_COLOR: '1',
}

type Say = (text: string) => void
type Ran = { code: number; figures: string[] }

/** After Ctrl-C nothing more is begun; what was shown until then is still reported. */
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())

function run(command: Command, write: Say): Promise<Ran> {
  const args = command.args(size)
  const env = command.env?.(size) ?? {}
  write(`$ ${[...Object.entries(env).map(([name, value]) => `${name}=${value}`), 'node', ...args].join(' ')}\n`)
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...ownEnv, ...env } })
    const stop = () => child.kill('SIGTERM')
    stopped.signal.addEventListener('abort', stop)
    let rest = ''
    const figures: string[] = []
    child.stderr.setEncoding('utf8').on('data', write)
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      write(piece)
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const found = command.figure.exec(line)
        const text = found?.slice(1).find((part) => part !== undefined) === undefined ? undefined : found?.[0].trim()
        if (text) figures.push(text.replace(/^seen: /, ''))
      }
    })
    child.on('close', (code) => {
      stopped.signal.removeEventListener('abort', stop)
      resolve({ code: code ?? 1, figures: figures.slice(-figuresKept) })
    })
  })
}

type Shown = { row: Row; ok: boolean; seen: string[]; seconds: number }

/** What runs beside another is written when it is over, as a whole. */
async function show(row: Row, isAlone: boolean): Promise<Shown> {
  const startedMs = performance.now()
  const title = `\n=== ${row.promise} (${row.name})\n`
  let kept = ''
  const write: Say = isAlone ? (text) => process.stdout.write(text) : (text) => (kept += text)
  if (isAlone) write(title)
  else say(`begun: ${row.name}`)
  const ran: Ran[] = []
  for (const command of row.commands) if (!stopped.signal.aborted) ran.push(await run(command, write))
  if (!isAlone) say(`${title}${kept}`)
  const seen = ran.flatMap(({ figures }) => figures)
  // A command that ends well and shows no figure has shown nothing.
  const ok = ran.length === row.commands.length && ran.every(({ code, figures }) => code === 0 && figures.length > 0)
  if (values.record && !stopped.signal.aborted) record(row, ok, seen)
  return { row, ok, seen, seconds: Math.round((performance.now() - startedMs) / 1_000) }
}

function record({ name }: Row, held: boolean, seen: readonly string[]): void {
  const figures = seen.map((text) => text.replace(/\s+/g, ' '))
  updateRecord<Recorded>(
    'promises',
    (all) => {
      all[name] = { ...all[name], [size]: { ...origin, held, seen: figures } }
    },
    (all) => [tableOf(all)],
  )
}

const chosen = rows.filter(({ name, onlyNamed }) => only?.includes(name) ?? onlyNamed === undefined)
if (values.list) {
  for (const { name, promise, asked, commands } of chosen) {
    say(`${name.padEnd(9)} ${promise}: ${asked}`)
    for (const command of commands) say(`          node ${command.args(size).join(' ')}`)
  }
  process.exit(0)
}
const startedMs = performance.now()
const results: Shown[] = []
const showAll = (some: readonly Row[], atOnce: number) =>
  together(some.length, atOnce, async (index) => {
    if (!stopped.signal.aborted) results.push(await show(some[index] as Row, atOnce === 1))
  })
const atOnce = size === 'asked' || chosen.length === 1 ? 1 : 2
const beside = chosen.filter(({ alone }) => atOnce > 1 && !alone)
await showAll(beside, atOnce)
await showAll(
  chosen.filter((row) => !beside.includes(row)),
  1,
)
results.sort((one, other) => rows.indexOf(one.row) - rows.indexOf(other.row))
say(`\nsize: ${size}`)
for (const { row, ok, seen, seconds } of results) {
  say(`${ok ? 'ok    ' : 'BROKEN'} ${row.name.padEnd(9)} ${row.promise} (${seconds} s)`)
  say(`         asked: ${row.asked}`)
  for (const figure of seen.length === 0 ? ['nothing'] : seen) say(`         seen:  ${figure}`)
}
say(`took ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`)
if (stopped.signal.aborted) say(`stopped after ${results.length} of ${chosen.length} promises`)
process.exit(!stopped.signal.aborted && results.every(({ ok }) => ok) ? 0 : 1)
