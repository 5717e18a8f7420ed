import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plannedFaults } from './faults.ts'
import { FaultNotApplicable, type PlantedFault, plantFault } from './plant.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test.each(plannedFaults)('planted fault "$name" still applies, and its proof still exists', (fault) => {
  const source = read(fault.file)
  expect(plantFault(source, fault)).not.toBe(source)
  expect(read(fault.proof.file)).toContain(fault.proof.test)
})

const fault = (more: Partial<PlantedFault>): PlantedFault => ({
  name: 'x',
  file: 'x.ts',
  fn: 'f',
  find: 'a > 3',
  replace: 'false',
  proof: { file: '', test: '' },
  ...more,
})
const source =
  'export async function f(a: number): Promise<boolean> {\n  return a >\n    3\n}\nconst g = (a: number) => a > 3'

test('one node of the named function is replaced, whatever its white space', () => {
  expect(plantFault(source, fault({}))).toContain('return false\n}')
  expect(plantFault(source, fault({ fn: 'g' }))).toContain('const g = (a: number) => false')
})

test('a fault whose function or node is gone, or occurs twice, does not apply', () => {
  expect(() => plantFault(source, fault({ fn: 'h' }))).toThrow(FaultNotApplicable)
  expect(() => plantFault(source, fault({ find: 'a > 4' }))).toThrow(FaultNotApplicable)
  expect(() => plantFault(source.replace('return', 'a > 3 ||'), fault({}))).toThrow(FaultNotApplicable)
})
