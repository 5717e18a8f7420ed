import { checksumAddress } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { knownNetworks } from './chain/index.ts'
import { demoAccount } from './devnet/accounts.ts'
import { http, local } from './facilitators/list.ts'
import { ConfigError } from './kernel/config-error.ts'
import { readTillOptions, type TillOptions } from './till-options.ts'

const payTo = '0x52908400098527886E0F7030069857D2E4169EE7'
const rpc = 'https://rpc.example.com'
const good: TillOptions = {
  database: 'postgres://till@db.example.com/till',
  networks: { base: { payTo, rpc } },
  facilitator: http('https://facilitator.example.com'),
  publicUrl: 'https://api.example.com',
}

/** As plain JavaScript gives them, where no type is in the way. */
function problemsOf(given: Record<string, unknown>): readonly string[] {
  try {
    readTillOptions({ ...good, ...given } as TillOptions)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('the options that the others are compared with are good ones', () => {
  expect(problemsOf({})).toEqual([])
})

const usdc = knownNetworks.find(({ name }) => name === 'base')?.usdc.address ?? '0x'
const operator = checksumAddress(demoAccount('operator').address)
const settler = demoAccount('settler').privateKey

test.each<[string, Record<string, unknown>, RegExp]>([
  ['nobody', { networks: { base: { payTo: `0x${'0'.repeat(40)}`, rpc } } }, /^networks\.base\.payTo: .*nobody/],
  [
    'the token itself',
    { networks: { base: { payTo: checksumAddress(usdc), rpc } } },
    /^networks\.base\.payTo: .*token/,
  ],
  ['a demo address', { networks: { base: { payTo: operator, rpc } } }, /^networks\.base\.payTo: .*everybody/],
  ['demo custody', { networks: { base: { payTo, custody: operator, rpc } } }, /^networks\.base\.custody: .*everybody/],
  ['a network without options', { networks: { base: undefined } }, /^networks\.base: .*payTo, rpc/],
  ['a facilitator by its bare URL', { facilitator: 'https://f.example.com' }, /^facilitator: .*http\(url\)/],
  ['one of several facilitators', { facilitator: [http('https://f.example.com'), 'x'] }, /^facilitator: .*http\(url\)/],
  ['a short key', { facilitator: local({ keys: ['0x01'] }) }, /^facilitator: local\(\{ keys \}\).*64 hex/],
  ['a key off the curve', { custodyKeys: [`0x${'0'.repeat(64)}`] }, /^custodyKeys: .*64 hex/],
  ['a demo key', { facilitator: local({ keys: [settler] }) }, /^facilitator: local\(\{ keys \}\).*everybody/],
  ['a demo key of custody', { custodyKeys: [settler] }, /^custodyKeys: .*everybody/],
  ['a demo key for refunds', { settlerKeys: [settler] }, /^settlerKeys: .*everybody/],
  ['a misspelled word', { jobs: 'crom' }, /^jobs: .*here.*cron/],
  ['nothing may be sold', { exposureCap: '0' }, /^exposureCap: .*above zero/],
])('a weak or wrong option names itself and the fix: %s', (_, given, problem) => {
  const problems = problemsOf(given)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(problem)
})

test('no key is repeated in an error', () => {
  expect(problemsOf({ custodyKeys: [settler, 'not-a-key-but-secret'] }).join()).not.toMatch(/secret|0x[0-9a-f]{8}/)
})

test('a demo may use what everybody knows', () => {
  const facilitator = local({ keys: [settler] })
  expect(problemsOf({ demo: true, facilitator, networks: { base: { payTo: operator, rpc } } })).toEqual([])
})
