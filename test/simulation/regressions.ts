import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './steps.ts'

/**
 * A run that once broke a rule, thinned out. It is played again with every test run, unless a narrower test is named that
 * finds the same defect; `npm run simulate -- --kept` plays all of them.
 */
export type Regression = { found: string; seed: string; narrower?: string; steps: Step[] }

export const regressionsFile = join(import.meta.dirname, 'regressions.json')

export const readRegressions = async (file = regressionsFile): Promise<Regression[]> =>
  JSON.parse(await readFile(file, 'utf8'))

/** The form in which a failing run is printed and kept: a step a line, so that a change shows what changed. */
export function asRegression({ found, seed, narrower, steps }: Regression): string {
  const lines = steps.map((step) => `      ${JSON.stringify(step)}`)
  const fields = { found, seed, ...(narrower === undefined ? {} : { narrower }) }
  const said = Object.entries(fields).map(([name, value]) => `    "${name}": ${JSON.stringify(value)},\n`)
  return `  {\n${said.join('')}    "steps": [\n${lines.join(',\n')}\n    ]\n  }`
}

/** By what was found, so that two who keep one each do not meet at the end of the file. The same run is kept once. */
export async function keepRegression(file: string, regression: Regression): Promise<void> {
  const runOf = ({ seed, steps }: Regression) => JSON.stringify([seed, steps])
  const others = (await readRegressions(file)).filter((kept) => runOf(kept) !== runOf(regression))
  const place = ({ found, seed }: Regression) => `${found}\n${seed}`
  const sorted = [...others, regression].sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0))
  await writeFile(file, `[\n${sorted.map(asRegression).join(',\n')}\n]\n`)
}
