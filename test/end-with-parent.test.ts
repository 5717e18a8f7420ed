import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { endWithParent } from './harness/end-with-parent.ts'
import { until } from './harness/until.ts'

/** Starts a program that would run for ever, says its id, and waits. */
const parent = `
  const { spawn } = require('node:child_process')
  const child = spawn(process.execPath, [...${JSON.stringify(endWithParent)}, '-e', 'setInterval(() => {}, 1000); console.log(process.pid)'], { stdio: ['pipe', 'inherit', 'ignore'] })
  child.on('exit', (code, signal) => console.log(signal))`

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a program that a test started ends with a run that is killed', async () => {
  const run = spawn(process.execPath, ['-e', parent], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: run.stdout })[Symbol.asyncIterator]()
  const pid = Number((await lines.next()).value)
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
  expect(isAlive(pid)).toBe(true)
  run.kill('SIGKILL')
  await until('it has ended', async () => !isAlive(pid))
})
