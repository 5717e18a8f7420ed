import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vitest/config'
import { plannedFaults } from './faults.ts'
import { plantFault } from './plant.ts'

const root = join(import.meta.dirname, '..', '..')

/** Plants one fault while modules are loaded; no file is changed. */
export function plantPlugin(name: string): Plugin {
  const fault = plannedFaults.find((one) => one.name === name)
  if (!fault) throw new Error(`no planted fault is called "${name}"`)
  const path = join(root, fault.file)
  return {
    name: 'planted-fault',
    enforce: 'pre',
    load: (id) => (id.split('?')[0] === path ? plantFault(readFileSync(path, 'utf8'), fault) : undefined),
  }
}
