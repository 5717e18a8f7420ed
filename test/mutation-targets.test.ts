import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pureTestsIn } from '../scripts/mutation/pure-tests.mjs'
import { targets } from '../scripts/mutation/targets.mjs'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

test('every file that is to be mutated, and every folder of tests, exists', () => {
  const named = targets.flatMap(({ mutate, tests }) => [...mutate, ...tests]).filter((path) => !path.includes('*'))
  const missing = named.map((path) => path.replace('!', '')).filter((path) => !existsSync(join(root, path)))
  expect(missing).toEqual([])
})

/** In a separate process: the stand-in changes the assertions it takes from vitest. */
async function inStandIn<T>(expression: string): Promise<T> {
  const source = `import * as standIn from './scripts/mutation/vitest-stand-in.mjs'; console.log(JSON.stringify(await (${expression})))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', source], { cwd: root })
  return JSON.parse(stdout) as T
}

test('expect.poll in a test of the kernel ended npm run mutate: what pure tests take from vitest, the stand-in has', async () => {
  const files = targets.flatMap(({ tests }) => pureTestsIn(tests.map((place) => join(root, place))))
  const taken = [...new Set(files.flatMap((file) => namesUsedOf(readFileSync(file, 'utf8'))))]
  expect(taken).toContain('expect.poll')
  const missing = await inStandIn(
    `${JSON.stringify(taken)}.filter((name) => name.split('.').reduce((part, key) => part?.[key], standIn) === undefined)`,
  )
  expect(missing).toEqual([])
})

function namesUsedOf(text: string): string[] {
  const [, imported = ''] = /^import \{ ([^}]*) \} from 'vitest'$/m.exec(text) ?? []
  const names = imported.split(', ').filter((name) => name !== '' && !name.startsWith('type '))
  const members = [...text.matchAll(/\b(expect|test|it|describe)\s*\.(\w+)\s*[(<]/g)]
  return [...names, ...members.map(([, part, member]) => `${part}.${member}`)]
}

test('what the stand-in polls passes once it is so, and fails when it never is', async () => {
  const polled = (needed: string, timeout: number) =>
    `(() => { let asked = 0; return standIn.expect.poll(() => ++asked >= ${needed}, { timeout: ${timeout}, interval: 1 }).toBe(true) })().then(() => true, () => false)`
  expect(await inStandIn(polled('3', 60_000))).toBe(true)
  expect(await inStandIn(polled('Infinity', 20))).toBe(false)
})
