// npm test: installs what is missing, then runs every check and test, and ends with one line that counts them.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()

const bin = (name) => join(root, 'node_modules', '.bin', name)

const checks = [
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['types', bin('tsc'), ['--noEmit', '-p', 'tsconfig.json']],
  ['direction of imports', process.execPath, ['scripts/check-imports.mjs']],
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

let passed = 0
let failed = 0
for (const [name, command, args] of checks) {
  const { code, output } = await run(command, args, { quiet: true })
  if (code === 0) passed += 1
  else {
    failed += 1
    process.stdout.write(output)
  }
  process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${name}\n`)
}

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined
let status = failed > 0 ? 1 : 0
if (only !== 'check') {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'))
  const report = join(folder, 'report.json')
  const { code } = await run(
    bin('vitest'),
    ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`],
    { quiet: false },
  )
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    passed += result.numPassedTests
    failed += result.numFailedTests
    // A file that cannot be loaded fails without a failed test of its own.
    if (code !== 0 && result.numFailedTests === 0) failed += 1
  } catch {
    failed += 1
  }
  rmSync(folder, { recursive: true, force: true })
  if (code !== 0) status = 1
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : status
