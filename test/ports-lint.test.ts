import { join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error a script without types
import { checkedSources, checkPorts, rawCallsOf } from '../scripts/check-ports.mjs'

test.each([
  ['const now = Date.now()', 'clock'],
  ['const now = new Date()', 'clock'],
  ['const start = performance.now()', 'clock'],
  ['const timer = setTimeout(stop, 5)', 'timer'],
  ['setInterval(look, 50)', 'timer'],
  ['const signal = AbortSignal.timeout(5_000)', 'timer'],
  ['const pick = Math.random()', 'random'],
  ["import { randomUUID } from 'node:crypto'", 'random'],
  ['const id = crypto.randomUUID()', 'random'],
  ['const bytes = randomBytes(16)', 'random'],
  ['const bytes = crypto.randomBytes(16)', 'random'],
  ["const url = process.env['DATABASE_URL']", 'environment'],
  ['const answer = await fetch(url)', 'network'],
  ["import { request } from 'node:http'", 'network'],
  ["const { connect } = await import('node:net')", 'network'],
])('%s is raw', (line, rule) => {
  expect(rawCallsOf(line)).toEqual([rule])
})

test.each([
  'const at = new Date(clock.nowMs())',
  'await clock.sleep(250)',
  'const bytes = rng.bytes(16)',
  'const nonce = context.platform.randomBytes(32)',
  "platform: Pick<Platform, 'nowMs' | 'randomBytes'> = defaultPlatform,",
  'const answer = await deps.outbound.fetch(url, limits)',
  "import type { IncomingMessage } from 'node:http'",
  "import { isIP } from 'node:net'",
  '// Date.now() would tie this to the machine',
  "type: 'http',",
])('%s is not', (line) => {
  expect(rawCallsOf(line)).toEqual([])
})

test.each(Object.entries(checkedSources))('%s keeps to it, and every exception is still needed', (folder, allowed) => {
  expect(checkPorts(join(import.meta.dirname, '..', folder), allowed)).toEqual([])
})

test('node and client are both checked', () => {
  expect(Object.keys(checkedSources)).toEqual([
    'packages/till/src',
    'packages/node/src',
    'packages/sdk/src',
    'packages/protocol/src',
  ])
})
