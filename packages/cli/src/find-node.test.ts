import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AssayError } from '@assay/sdk'
import { useFolder } from '@assay/till/kernel/use-folder.fixture'
import { expect, test } from 'vitest'
import { defaultNode, findNode } from './find-node.ts'
import { nodeName } from './operator/key-changes.ts'
import { toCliError } from './report-error.ts'
import { runCli } from './run-cli.ts'
import { createTestTerminal } from './terminal.fixture.ts'

const home = useFolder('find-node')
const url = 'http://127.0.0.1:4999'
const running = (text: string) => writeFile(join(home, 'running.json'), text)
const found = (env: NodeJS.ProcessEnv = {}) => findNode({ ASSAY_HOME: home, ...env })

test('ASSAY_URL takes precedence over the node of the data folder, and that over the default address', async () => {
  expect(found()).toEqual({ url: defaultNode, why: undefined })
  await running(JSON.stringify({ url, pid: process.pid }))
  expect(found()).toEqual({ url, why: `running in ${home}` })
  expect(found({ ASSAY_URL: 'https://api.example.org' })).toEqual({ url: 'https://api.example.org', why: 'ASSAY_URL' })
})

test('a change of keys names the node that runs in the data folder, not the default address', async () => {
  const config = { baseUrl: undefined, home, host: '127.0.0.1', port: 4020 }
  await running(JSON.stringify({ url, pid: process.pid }))
  expect(nodeName(config, undefined)).toBe(url)
  expect(nodeName({ ...config, baseUrl: 'https://node.example' }, undefined)).toBe('https://node.example')
  expect(nodeName(config, 'https://named.example/path')).toBe('https://named.example')
})

test('no backup is written over another', async () => {
  await writeFile(join(home, 'base.tar'), 'an earlier one')
  const terminal = createTestTerminal()
  expect(await runCli(['backup', home], terminal)).toBe(2)
  expect(terminal.stderr()).toContain('holds a backup already')
})

test('a file that a killed node left behind, or a broken one, is not believed', async () => {
  for (const text of [JSON.stringify({ url, pid: 2 ** 22 + 1 }), '{', 'null', JSON.stringify({ url: 'x', pid: 1 })]) {
    await running(text)
    expect(found()).toEqual({ url: defaultNode, why: undefined })
  }
})

test('a command says which node it found, and the one that was named stays', async () => {
  await running(JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid }))
  const said = async (...args: string[]) => {
    const terminal = createTestTerminal({ env: { ASSAY_HOME: home } })
    expect(await runCli(['mesh', 'peers', ...args], terminal)).toBe(1)
    return terminal.stderr()
  }
  expect(await said()).toContain(`node: http://127.0.0.1:1 (running in ${home})`)
  expect(await said('--url', 'http://127.0.0.1:2')).not.toContain('running in')
})

test('what the node refused keeps its code, its hint and whether to try again', () => {
  const problem = { code: 'amount_too_small', detail: 'minimum 1 USD', hint: 'Send 1 or more.', retryable: false }
  const error = new AssayError('request_failed', { detail: problem.detail, hint: problem.hint, status: 400, problem })
  const { code, message, hint, details } = toCliError(error)
  expect({ code, message, hint, details }).toEqual({
    ...{ code: 'amount_too_small', message: 'minimum 1 USD', hint: 'Send 1 or more.' },
    details: { status: 400, retryable: false },
  })
})

test('a list that the hint of the node speaks of is shown with it', () => {
  const problem = {
    code: 'not_found',
    detail: 'There is no such feed.',
    hint: 'Use one of `feeds`.',
    feeds: ['a', 'b'],
  }
  const error = new AssayError('request_failed', { detail: problem.detail, hint: problem.hint, status: 404, problem })
  const { hint, details } = toCliError(error)
  expect(hint).toBe('Use one of `feeds`.\n  feeds: a, b')
  expect(details).toMatchObject({ feeds: ['a', 'b'] })
})
