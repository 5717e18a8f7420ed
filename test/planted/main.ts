import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plannedFaults } from './faults.ts'
import type { PlantedFault } from './plant.ts'

const root = join(import.meta.dirname, '..', '..')

type Outcome = 'found' | 'missed' | 'proof fails without it' | 'proof not run'

/** Runs one proof with or without its fault: whether its tests ran, and whether any of them failed. */
function runProof({ proof, name }: PlantedFault, planted: boolean): { ran: boolean; failed: boolean } {
  const pattern = proof.test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const result = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', proof.file, '-t', pattern, '--reporter=json'],
    {
      ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 },
      // The long proofs are left out of a run that does not say how long they may be.
      env: { ASSAY_PROOFS: 'small', ...process.env, ...(planted ? { PLANT: name } : {}) },
    },
  )
  const start = result.stdout.indexOf('{"numTotalTestSuites"')
  if (start < 0) return { ran: false, failed: result.status !== 0 }
  const report = JSON.parse(result.stdout.slice(start)) as { numPassedTests: number; numFailedTests: number }
  return { ran: report.numPassedTests + report.numFailedTests > 0, failed: report.numFailedTests > 0 }
}

function tryFault(fault: PlantedFault): Outcome {
  const sound = runProof(fault, false)
  if (!sound.ran) return 'proof not run'
  if (sound.failed) return 'proof fails without it'
  return runProof(fault, true).failed ? 'found' : 'missed'
}

const { values } = parseArgs({
  options: { only: { type: 'string' }, list: { type: 'boolean' }, json: { type: 'boolean' } },
})
const only = values.only?.split(',').map((part) => part.trim())
const chosen = plannedFaults.filter(({ name }) => only === undefined || only.some((part) => name.includes(part)))
if (chosen.length === 0) throw new Error(`no planted fault has "${values.only}" in its name`)
if (values.list) {
  for (const { name, file, fn } of chosen) console.log(`${name}\t${fn} in ${file}`)
} else {
  const outcomes: { name: string; proof: string; outcome: Outcome }[] = []
  for (const fault of chosen) {
    const outcome = tryFault(fault)
    outcomes.push({ name: fault.name, proof: `${fault.proof.file}: ${fault.proof.test}`, outcome })
    if (!values.json) console.log(`${outcome === 'found' ? 'ok  ' : 'FAIL'}  ${fault.name}: ${outcome}`)
  }
  const found = outcomes.filter(({ outcome }) => outcome === 'found').length
  if (values.json) console.log(JSON.stringify(outcomes, null, 2))
  else console.log(`${found} of ${outcomes.length} planted faults found`)
  if (found < outcomes.length) process.exitCode = 1
}
