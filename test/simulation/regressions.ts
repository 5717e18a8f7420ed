import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './steps.ts'

/** A run that once broke a rule, thinned out; it is played again with every test run. */
export type Regression = { found: string; seed: string; steps: Step[] }

export const regressionsFile = join(import.meta.dirname, 'regressions.json')

export const readRegressions = async (): Promise<Regression[]> => JSON.parse(await readFile(regressionsFile, 'utf8'))

/** The form in which a failing run is printed, to be put into the file. */
export const asRegression = (found: string, seed: string, steps: readonly Step[]): string =>
  JSON.stringify({ found, seed, steps })
