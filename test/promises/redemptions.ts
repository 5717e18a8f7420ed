import { rm } from 'node:fs/promises'
import { measureRedemptions } from '../../bench/commerce/measure-redemptions.ts'
import { temporaryHome } from '../../bench/process/temporary-home.ts'
import { createFaults, type Proof, plain } from './proof.ts'

/**
 * A balance is never below zero: redemptions at once against one balance, exactly as many succeed as it pays for. `count`
 * is redemptions. How fast they are is printed; the bench `commerce` measures that.
 */
export const proveNeverBelowZero: Proof = async ({ count, say }) => {
  const faults = createFaults()
  const home = await temporaryHome('assay-redemptions-')
  try {
    say(`  ${plain(count)} redemptions of one balance at once, without and with signatures ...`)
    const runs = Object.entries(await measureRedemptions(home, count))
    for (const [how, run] of runs) {
      if (run.succeeded !== run.expected)
        faults.note(`${how}: ${run.succeeded} succeeded, ${run.expected} were covered`)
      if (run.left !== run.left_expected) faults.note(`${how}: ${run.left} points are left, not ${run.left_expected}`)
    }
    const seen = runs.map(([how, { succeeded, expected, per_second }]) => {
      return `${how.replace('_', ' ')} ${succeeded} of ${expected}, ${plain(per_second)}/s`
    })
    return { seen: `${plain(count)} redemptions of one balance: ${seen.join('; ')}`, faults: faults.all() }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}
