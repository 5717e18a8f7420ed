import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checksumAddress } from '@assay/protocol/address'
import { demoAccount } from '@assay/till/devnet/accounts'
import { ConfigError } from '@assay/till/kernel/config-error'
import { useFolder } from '@assay/till/kernel/use-folder.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseConfig, shopList } from '../shop-list.ts'
import { declareShop } from '../shops/shop.ts'
import { SettingsError, type Variable } from '../shops/shop-settings.ts'
import { describeVariables, readConfig } from './load-config.ts'

const address = (digit: string) => checksumAddress(`0x${digit.repeat(40)}`)

/** Complete and strong, as an operator would set it. */
const production = {
  ASSAY_MODE: 'production',
  DATABASE_URL: 'postgres://assay@db/assay',
  BASE_RPC_URLS: 'https://a.example/v1,https://b.example/v1',
  POLYGON_RPC_URLS: 'https://a.example/p',
  PAY_TO: address('a'),
  CUSTODY: address('b'),
  BASE_URL: 'https://node.example',
  API_URL: 'https://api.example',
  SIGNING_KEY_FILE: '/run/keys/signing.json',
  LOG_KEY_FILE: '/run/keys/log.json',
  FACILITATOR: 'cdp',
  CDP_API_KEY_ID: 'id',
  CDP_API_KEY_SECRET: 'secret',
  CONTACT_EMAIL: 'ops@node.example',
}

function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    parseConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('a provider is asked over TLS, unless it is on this machine', () => {
  const problems = (urls: string) => problemsOf({ ...production, BASE_RPC_URLS: urls })
  expect(problems('http://rpc.example/secret-key')).toEqual([
    'BASE_RPC_URLS: must be https, http is for this machine only: rpc.example',
  ])
  expect(problems('http://127.0.0.1.example')).toHaveLength(1)
  expect(problems('http://127.0.0.1:8545,http://[::1]:8545,http://localhost:8545,http://127.0.0.2')).toEqual([])
})

test('nothing set is a demo node with its own chains and database', () => {
  const config = parseConfig({})
  expect(config).toMatchObject({
    mode: 'demo',
    port: 4020,
    host: '127.0.0.1',
    values: expect.objectContaining({ SANDBOX: true }),
  })
  expect(config.networks.map(({ devnetPort }) => devnetPort)).toEqual([8545, 8546])
  expect(config.payTo).toBe(demoAccount('operator').address)
})

test('a complete production configuration is accepted, with the sandbox off', () => {
  const config = parseConfig(production)
  expect(config).toMatchObject({
    mode: 'production',
    values: expect.objectContaining({ SANDBOX: false }),
    facilitators: [{ kind: 'cdp' }],
    baseUrl: 'https://node.example',
  })
  expect(config.networks[0]?.rpcUrls).toHaveLength(2)
})

test('all problems are reported together, and no secret among them', () => {
  const problems = problemsOf({ ASSAY_MODE: 'production', FACILITATOR: 'local', SETTLER_KEYS: 'not-a-key-but-secret' })
  expect(problems.length).toBeGreaterThan(6)
  // What is missing is named once, and not a second time for what follows from it.
  const named = problems.map((problem) => problem.split(':')[0])
  expect(named).toEqual([...new Set(named)])
  expect(problems.join()).not.toContain('zero address')
  for (const name of [
    'DATABASE_URL',
    'BASE_RPC_URLS',
    'POLYGON_RPC_URLS',
    'PAY_TO',
    'CUSTODY',
    'BASE_URL',
    'API_URL',
    'SIGNING_KEY_FILE',
    'LOG_KEY_FILE',
    'SETTLER_KEYS',
  ])
    expect(
      problems.some((problem) => problem.startsWith(name)),
      name,
    ).toBe(true)
  expect(problems.join()).not.toContain('not-a-key-but-secret')
})

test('the example for operators, not filled in, is refused with every line that needs a value', () => {
  const lines = readFileSync(join(import.meta.dirname, '../../../../deploy/assay.env.example'), 'utf8').split('\n')
  const example = Object.fromEntries(lines.flatMap((line) => (/^[A-Z]/.test(line) ? [line.split(/=(.*)/)] : [])))
  const problems = problemsOf({ ...example, SIGNING_KEY_FILE: '/run/keys/signing.json', LOG_KEY_FILE: '/run/keys/log' })
  expect(problems).toEqual(
    [
      'DATABASE_URL',
      'BASE_RPC_URLS',
      'POLYGON_RPC_URLS',
      'PAY_TO',
      'CUSTODY',
      'CDP_API_KEY_ID',
      'CDP_API_KEY_SECRET',
    ].map((name) => `${name}: is not filled in`),
  )
  expect(problemsOf({ ...production, PAY_TO: '0x1', BASE_URL: 'http://node.example' })).toEqual([
    'PAY_TO: must be an address with its EIP-55 checksum',
    'BASE_URL: must be https in production',
  ])
})

test.each([
  ['a demo payee', { PAY_TO: checksumAddress(demoAccount('operator').address) }, 'PAY_TO'],
  ['a demo custody', { CUSTODY: checksumAddress(demoAccount('custody').address) }, 'CUSTODY'],
  ['custody that is PAY_TO', { CUSTODY: address('a') }, 'CUSTODY'],
  ['a payee without checksum', { PAY_TO: address('a').toLowerCase() }, 'PAY_TO'],
  ['a demo key', { FACILITATOR: 'local', SETTLER_KEYS: demoAccount('settler').privateKey }, 'SETTLER_KEYS'],
  ['missing facilitator keys', { CDP_API_KEY_SECRET: '' }, 'CDP_API_KEY_SECRET'],
  ['plain http', { BASE_URL: 'http://node.example' }, 'BASE_URL'],
  ['a base address with a path', { API_URL: 'https://api.example/v1' }, 'API_URL'],
  ['a facilitator that is none', { FACILITATOR: 'ftp://x' }, 'FACILITATOR'],
  ['a weak facilitator token', { FACILITATOR_TOKEN: 'short' }, 'FACILITATOR_TOKEN'],
  ['custody for one chain only', { CUSTODY: `eip155:8453=${address('b')}` }, 'CUSTODY'],
])('production refuses %s', (_name, change, variable) => {
  expect(problemsOf({ ...production, ...change }).some((problem) => problem.startsWith(variable))).toBe(true)
})

test('flags are exactly true or false, numbers are numbers', () => {
  for (const [name, value] of Object.entries({
    SANDBOX: 'yes',
    METRICS_PUBLIC: '1',
    PORT: '70000',
    DEVNET_PORTS: '8545',
    TRUST_PROXY: '-1',
    EXPOSURE_CAP_USD: '1e3',
  }))
    expect(
      problemsOf({ [name]: value }).some((problem) => problem.startsWith(name)),
      name,
    ).toBe(true)
  expect(parseConfig({ SANDBOX: 'false' }).values['SANDBOX']).toBe(false)
})

test('a demo node joins database and chains together or not at all', () => {
  expect(problemsOf({ DATABASE_URL: 'postgres://x/y' })).toHaveLength(1)
  expect(problemsOf({ BASE_RPC_URLS: 'http://127.0.0.1:1' })).toHaveLength(1)
  expect(
    problemsOf({
      DATABASE_URL: 'postgres://x/y',
      BASE_RPC_URLS: 'http://127.0.0.1:1',
      POLYGON_RPC_URLS: 'http://127.0.0.1:2',
    }),
  ).toEqual([])
})

test('further dollars are named by chain, with what their contracts need', () => {
  const named = { address: address('c'), symbol: 'USDX', name: 'USD X', version: '1' }
  const withDollars = (dollars: unknown) => ({ ...production, DOLLARS: JSON.stringify(dollars) })
  const [base, polygon] = parseConfig(
    withDollars({ base: [named, { address: address('d'), symbol: 'USDP' }] }),
  ).networks
  expect(base?.dollars).toEqual([
    { ...named, address: `0x${'c'.repeat(40)}`, decimals: 6 },
    { address: `0x${'d'.repeat(40)}`, symbol: 'USDP', name: '', version: '', decimals: 6, eip3009: false },
  ])
  expect(polygon?.dollars).toBeUndefined()
  const problems = problemsOf(
    withDollars({
      base: [named, { ...named, address: '0x1' }],
      moon: [],
      polygon: [named, named, { ...named, symbol: 'USDC' }],
    }),
  ).join('\n')
  for (const part of ['no chain moon', 'EIP-55', 'is named twice', 'two assets are called USDC'])
    expect(problems).toContain(part)
  expect(problemsOf(withDollars({ base: [{ ...named, decimals: 18 }] })).join()).toContain('DOLLARS: base.0')
  expect(
    problemsOf(withDollars({ base: [{ address: address('c'), symbol: 'USDX', name: 'USD X' }] })).join(),
  ).toContain('name and version')
})

test('custody may differ per chain, and settlement keys may come from a file', async () => {
  const folder = useFolder('config')
  const file = join(folder, 'keys')
  await writeFile(file, `0x${'1'.repeat(64)}\n0x${'2'.repeat(64)}\n`)
  const config = parseConfig({
    ...production,
    FACILITATOR: 'local',
    SETTLER_KEYS_FILE: file,
    CUSTODY: `eip155:8453=${address('b')},eip155:137=${address('c')}`,
  })
  expect(config.networks.map(({ custody }) => custody)).toEqual([
    address('b').toLowerCase(),
    address('c').toLowerCase(),
  ])
  expect(config.settlerKeys).toHaveLength(2)
})

test('the unit names a file of keys also where a signer holds them: an empty one is none', async () => {
  const folder = useFolder('config')
  const [empty, keys] = [join(folder, 'empty'), join(folder, 'keys')]
  await Promise.all([writeFile(empty, ''), writeFile(keys, `0x${'1'.repeat(64)}\n`)])
  const signed = {
    ...{ ...production, FACILITATOR: 'local', SIGNER_URL: 'https://10.0.0.5:4443', CUSTODY_KEYS_FILE: empty },
    ...{ SIGNER_CA_FILE: keys, SIGNER_CERT_FILE: keys, SIGNER_KEY_FILE: keys },
  }
  expect(parseConfig({ ...signed, SETTLER_KEYS_FILE: empty })).toMatchObject({ settlerKeys: [], custodyKeys: [] })
  expect(problemsOf({ ...signed, SETTLER_KEYS_FILE: keys })).toEqual([
    'SETTLER_KEYS or SETTLER_KEYS_FILE: is not used with SIGNER_URL, the signer holds the keys',
  ])
})

test('problems of the node and of every shop are reported together', () => {
  const problems = problemsOf({
    PORT: 'x',
    TOKENS: '{"report_price_usd":"0"}',
    MATRIX: 'not JSON',
    OPTIONS: '{"premium_usd":"1","tick_seconds":0}',
    MOVER_KEY: 'secret-but-no-key',
    MESH_PEERS: 'nowhere',
    OPERATORS: '0x1',
  })
  for (const name of ['PORT', 'TOKENS', 'MATRIX', 'OPTIONS: premium_usd', 'OPTIONS: tick_seconds'])
    expect(problems.join('\n')).toContain(name)
  for (const name of ['MOVER_KEY', 'MESH_PEERS', 'OPERATORS']) expect(problems.join('\n')).toContain(name)
  expect(problems.join()).not.toContain('secret-but-no-key')
})

test('a variable that two shops read is reported once', () => {
  expect(problemsOf({ SUBSCRIPTIONS: '{"pulls_per_day":0}' })).toHaveLength(1)
  expect(problemsOf({ CITATIONS: '{"nonsense":1}' })).toHaveLength(1)
})

test('a mistyped variable is named with the one that was meant, and what belongs to others is left alone', () => {
  expect(problemsOf({ BASE_RPC_URL: 'https://x.example', MESH_PEER: 'https://y.example' })).toEqual([
    'BASE_RPC_URL: is not a variable of this node; did you mean BASE_RPC_URLS?',
    'MESH_PEER: is not a variable of this node; did you mean MESH_PEERS?',
  ])
  expect(
    problemsOf({ PATH: '/bin', HOSTS: 'x', LOG_DIR: 'x', NODE_ENV: 'test', TOKEN: 'x', npm_config_yes: 'x' }),
  ).toEqual([])
  // Both are set, so the second was meant for somebody else.
  expect(problemsOf({ LOG_LEVEL: 'warn', LOG_LEVELS: 'x' })).toEqual([])
})

test('a shop that is removed takes its variables with it, and one that is added brings its own', () => {
  const without = shopList.filter(({ name }) => name !== 'mesh')
  expect(Object.keys(describeVariables(without))).not.toContain('MESH')
  expect(readConfig({ MESH: 'not JSON' }, without).values).not.toHaveProperty('MESH')
  // Shops that read the prices of subscriptions still bring the variable.
  const names = Object.keys(describeVariables(shopList.filter(({ name }) => name !== 'subscriptions')))
  expect(names).toContain('SUBSCRIPTIONS')
  const toys = declareShop({
    name: 'toys',
    variables: {
      TOYS_KEY: { kind: 'text', description: 'A key.', secret: true, required: 'toys are locked' },
      TOYS: { kind: 'json', default: '{"n":1}', demo: '{"n":2}', description: 'Toys.', secret: false },
    },
    configure: ({ TOYS }) => {
      if (TOYS['n'] === 3) throw new SettingsError(['TOYS: n is too large'])
      return () => ({ routes: [] })
    },
  })
  const all = [...shopList, toys]
  expect(describeVariables(all)['TOYS']).toEqual({ shown: '`{"n":1}`', description: 'Toys.', secret: false })
  expect(readConfig({}, all).values['TOYS']).toEqual({ n: 2 })
  expect(readConfig({ ...production, TOYS_KEY: 'x' }, all).values['TOYS']).toEqual({ n: 1 })
  expect(() => readConfig(production, all)).toThrow('TOYS_KEY: missing, toys are locked')
  expect(() => readConfig({ TOYS: '{"n":3}' }, all)).toThrow('TOYS: n is too large')
  const thief = declareShop({
    name: 'thief',
    variables: { TOYS: { ...toys.variables['TOYS'] } as Variable },
    configure: () => () => ({ routes: [] }),
  })
  expect(() => readConfig({}, [...all, thief])).toThrow('thief declares TOYS, which somebody else declares')
})

test('any environment gives a configuration or a list of problems', () => {
  const names = Object.keys(describeVariables(shopList))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (env) => Array.isArray(problemsOf(env))),
    { numRuns: 300 },
  )
})
