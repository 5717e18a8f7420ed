import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useFolder } from '../../packages/till/src/kernel/use-folder.fixture.ts'
import { keepRegression, type Regression, readRegressions, regressionsFile } from './regressions.ts'

const one: Regression = { found: 'I9: "quoted"', seed: '4', steps: [{ kind: 'buy', a: 0, b: 1, c: 2 }] }
const other: Regression = { ...one, found: 'I7: earlier', seed: 'plain', narrower: 'a.test.ts' }

test('failing runs are kept once each, in order, a step a line', async () => {
  const folder = useFolder('regressions')
  const file = join(folder, 'regressions.json')
  await writeFile(file, '[]')
  for (const regression of [one, other, one]) await keepRegression(file, regression)
  expect(await readRegressions(file)).toEqual([other, one])
  expect(await readFile(file, 'utf8')).toContain('\n      {"kind":"buy","a":0,"b":1,"c":2}\n')
})

test('the kept runs stand in the file as the command would write them', async () => {
  const folder = useFolder('regressions')
  const file = join(folder, 'regressions.json')
  await writeFile(file, '[]')
  for (const regression of await readRegressions()) await keepRegression(file, regression)
  expect(await readFile(regressionsFile, 'utf8')).toBe(await readFile(file, 'utf8'))
})

test('the narrower test of a kept run is there', async () => {
  for (const { narrower } of await readRegressions())
    if (narrower !== undefined) expect(existsSync(join(import.meta.dirname, '../..', narrower)), narrower).toBe(true)
})
