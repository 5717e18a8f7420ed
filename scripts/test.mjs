// npm test: installs what is missing, then runs every check and test, and ends with one line that counts them.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()

/** On two quiet cores. Above it the run says so. */
const minutesMax = 10
const startedMs = performance.now()
// The type checker and the bundler are written in Go: with more room they collect less often, a quarter of their time.
process.env.GOGC ??= '400'
const bin = (name) => join(root, 'node_modules', '.bin', name)

/** What is known of files that did not change since the run before is kept beside the installed packages, where another run will come. */
const typesOf = (project) => {
  const known = join(root, 'node_modules', '.cache', 'types', `${project.replaceAll('/', '-')}.tsbuildinfo`)
  const kept = process.env.CI ? [] : ['--incremental', '--tsBuildInfoFile', known]
  return ['--noEmit', '-p', project, '--checkers', '1', ...kept]
}

const checks = [
  ['packages as locked', process.execPath, ['scripts/check-tree.mjs']],
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['types', bin('tsc'), typesOf('tsconfig.json')],
  ['types of the console', bin('tsc'), typesOf('packages/web/tsconfig.json')],
  ['direction of imports', process.execPath, ['scripts/check-imports.mjs']],
  ['nothing raw outside adapters', process.execPath, ['scripts/check-ports.mjs']],
  ['no test measures time', process.execPath, ['scripts/check-test-clocks.mjs']],
  ['words of the field', process.execPath, ['scripts/check-language.mjs']],
  ['migrations block nobody', process.execPath, ['scripts/check-migrations.mjs']],
  ['nothing unused', bin('knip'), ['--no-progress', '--cache']],
  ['size of the SDK', process.execPath, ['scripts/check-size.mjs']],
  ['tables of the API', process.execPath, ['scripts/generate-api-tables.mjs', '--check']],
  ['compiled contracts', process.execPath, ['scripts/compile-contracts.mjs', '--check']],
]

function run(command, args, { quiet }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    })
    let output = ''
    child.stdout?.on('data', (chunk) => (output += chunk))
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** All at once, and beside the tests: some use one core only, others wait for the disk. */
async function runChecks() {
  const checked = await Promise.all(checks.map(([, command, args]) => run(command, args, { quiet: true })))
  let report = '\n'
  for (const [index, { code, output }] of checked.entries())
    report += `${code === 0 ? '' : output}${code === 0 ? 'ok' : 'FAILED'}  ${checks[index][0]}\n`
  process.stdout.write(report)
  return { failed: checked.filter(({ code }) => code !== 0).length }
}

/** Tests that were skipped are named: silence would read as approval. */
function sayLeftOut(files) {
  for (const { name, assertionResults } of files) {
    const skipped = assertionResults.filter(({ status }) => status === 'pending' || status === 'skipped').length
    if (skipped === 0) continue
    const why = name.endsWith('.browser.test.ts') ? ': no Chromium was found; install one or set CHROMIUM' : ''
    process.stdout.write(`\nleft out: ${skipped} tests of ${relative(root, name)}${why}\n`)
  }
}

/** Where the time goes, for anyone who wants to make it shorter. */
function sayLongest(files) {
  const seconds = ({ startTime, endTime }) => Math.round((endTime - startTime) / 1000)
  const longest = [...files].sort((one, other) => seconds(other) - seconds(one)).slice(0, 20)
  const lines = longest.map((file) => `${String(seconds(file)).padStart(5)} s  ${relative(root, file.name)}`)
  process.stdout.write(`\nlongest files:\n${lines.join('\n')}\n`)
}

/** Each failure of a file with its first lines, for the end of the output: often only that is kept. */
function whyBroken({ name, message, assertionResults }) {
  const failures = assertionResults.filter(({ status }) => status === 'failed')
  const first = (text) => stripVTControlCharacters(text).split('\n').slice(0, 24).join('\n    ')
  if (failures.length === 0 && message !== '') return [`${relative(root, name)}\n    ${first(message)}`]
  return failures.map(
    ({ fullName, failureMessages }) =>
      `${relative(root, name)} > ${fullName}\n    ${first(failureMessages.join('\n'))}`,
  )
}

/** Runs the tests, of some files or of all; what could not even be loaded counts as one failure. */
async function runTests(files = []) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'))
  const report = join(folder, 'report.json')
  const args = ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
  const { code } = await run(bin('vitest'), [...args, ...files], { quiet: false })
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    sayLeftOut(result.testResults)
    if (files.length === 0) sayLongest(result.testResults)
    const broken = result.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
    const failures = result.numFailedTests > 0 || code === 0 ? result.numFailedTests : 1
    const why = result.testResults.flatMap(whyBroken)
    return { code, passed: result.numPassedTests, failed: failures, broken, why }
  } catch {
    return { code: code || 1, passed: 0, failed: 1, broken: [], why: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Up to three files that failed are run once more, alone, to say which kind of failure it is. A file that passes alone
 * is unsteady, and fails the run all the same: a test that fails now and then hides the day it is right.
 */
async function runAllTests() {
  const first = await runTests()
  if (first.failed === 0 || first.broken.length === 0 || first.broken.length > 3) return first
  const names = first.broken.map((name) => relative(root, name)).join(', ')
  process.stdout.write(`\nrunning once more, alone: ${names}\n`)
  const again = await runTests([...first.broken, '--maxWorkers=1'])
  // Without a report of the second run nothing is known to pass alone.
  const steady = new Set(again.code !== 0 && again.broken.length === 0 ? first.broken : again.broken)
  for (const name of first.broken)
    process.stdout.write(
      `\nFAILED  ${relative(root, name)}: ${steady.has(name) ? 'also alone' : 'UNSTEADY, it passes alone. The run fails: fix its cause'}\n`,
    )
  return first
}

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined
const none = { code: 0, passed: 0, failed: 0, why: [] }
const [checked, tests] = await Promise.all([runChecks(), only === 'check' ? none : runAllTests()])
const failed = checked.failed + tests.failed
const passed = checks.length - checked.failed + tests.passed
for (const failure of tests.why) process.stdout.write(`\nFAILED  ${failure}\n`)
const minutes = (performance.now() - startedMs) / 60_000
process.stdout.write(`\ntook ${minutes.toFixed(1)} minutes\n`)
if (minutes > minutesMax) process.stdout.write(`SLOW: at most ${minutesMax} minutes are wanted on two quiet cores\n`)
if (checked.failed > 0) process.stdout.write(`${checked.failed} of the checks above failed: npm run check\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 || tests.code !== 0 ? 1 : 0
