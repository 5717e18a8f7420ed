import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const run = (left: string, lingerMs: number) =>
  spawnSync(
    process.execPath,
    [
      ...['--import', 'tsx', '--input-type=module', '--eval'],
      `import { endSoon } from './packages/node/src/end-process-adapter.ts'; ${left}; process.exitCode = 3; endSoon(${lingerMs})`,
    ],
    { timeout: 60_000 },
  )

test('a process that something keeps ends all the same, with its code', () => {
  expect(run('setInterval(() => {}, 1000)', 50)).toMatchObject({ status: 3, signal: null })
})

test('a process that nothing keeps does not wait for it', () => {
  expect(run('', 600_000)).toMatchObject({ status: 3, signal: null })
})
