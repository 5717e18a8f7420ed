// npm run mutate: breaks the money and verdict code on purpose, one place at a time, and counts what the tests notice.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installIfMissing, root } from './install-if-missing.mjs'
import { targets } from './mutation/targets.mjs'

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, survivors: { type: 'boolean' }, record: { type: 'boolean' } },
})

const stryker = '9.6.1'

/** Not among the dependencies: a hundred packages that nobody needs to run or test a node. The next installation drops them. */
function installStryker() {
  if (existsSync(join(root, 'node_modules', '@stryker-mutator', 'core'))) return
  process.stderr.write('Installing Stryker (once) ...\n')
  const wanted = ['core', 'api'].map((part) => `@stryker-mutator/${part}@${stryker}`)
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...wanted],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  )
  if (status !== 0) process.exit(status ?? 1)
}

installIfMissing()

const unknown = values.only?.find((name) => !targets.some((target) => target.name === name))
if (unknown !== undefined) {
  process.stderr.write(`no target ${unknown}; there are ${targets.map(({ name }) => name).join(', ')}\n`)
  process.exit(2)
}

installStryker()
const { register } = await import('tsx/esm/api')
register()
const { readOrigin } = await import('../bench/record.ts')
const { rateAsked, rateOf, recordTarget, tableOf } = await import('../bench/mutation/recorded.ts')

const folder = join(root, 'coverage', 'mutation')
mkdirSync(folder, { recursive: true })

/** Stryker takes its settings from a file, so what differs by target goes through the environment. */
function runStryker({ name, mutate, tests }) {
  const report = join(folder, `${name}.json`)
  rmSync(report, { force: true })
  const environment = {
    MUTATION_TARGET: name,
    MUTATION_FILES: JSON.stringify(mutate),
    MUTATION_TESTS: JSON.stringify(tests),
  }
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules', '.bin', 'stryker'), ['run', 'stryker.config.mjs'], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(readFileSync(report, 'utf8')))
      else reject(new Error(`${name}: Stryker ended with ${code}\n${said}`))
    })
  })
}

function count(report) {
  const tally = { mutants: 0, noticed: 0, survived: 0, unreached: 0 }
  const left = []
  for (const [file, { mutants, source }] of Object.entries(report.files))
    for (const { status, location, mutatorName, replacement } of mutants) {
      if (status === 'Ignored' || status === 'CompileError' || status === 'RuntimeError') continue
      tally.mutants += 1
      if (status === 'Killed' || status === 'Timeout') tally.noticed += 1
      else {
        tally[status === 'NoCoverage' ? 'unreached' : 'survived'] += 1
        const line = source.split('\n')[location.start.line - 1].trim()
        left.push(
          `${file}:${location.start.line}:${location.start.column} ${mutatorName} -> ${replacement}\n    ${line}`,
        )
      }
    }
  return { tally, left }
}

const origin = readOrigin()
const rows = {}
for (const target of targets.filter(({ name }) => values.only?.includes(name) ?? true)) {
  const started = performance.now()
  process.stdout.write(`${target.name}: running\n`)
  const { tally, left } = count(await runStryker(target))
  process.stdout.write(`${target.name}: ${Math.round((performance.now() - started) / 1000)} s\n`)
  if (values.survivors) for (const line of left) process.stdout.write(`  ${line}\n`)
  rows[target.name] = { ...tally, ...origin }
  if (values.record) recordTarget(target.name, rows[target.name])
}

process.stdout.write(`${tableOf(rows)}\n`)
process.exitCode = Object.values(rows).some((row) => rateOf(row) < rateAsked) ? 1 : 0
