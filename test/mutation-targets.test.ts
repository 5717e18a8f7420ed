import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { targets } from '../scripts/mutation/targets.mjs'

test('every file that is to be mutated, and every folder of tests, exists', () => {
  const named = targets.flatMap(({ mutate, tests }) => [...mutate, ...tests]).filter((path) => !path.includes('*'))
  const missing = named
    .map((path) => path.replace('!', ''))
    .filter((path) => !existsSync(join(import.meta.dirname, '..', path)))
  expect(missing).toEqual([])
})
