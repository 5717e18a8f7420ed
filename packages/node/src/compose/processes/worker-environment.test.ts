import { demoSettlerKeys } from '@assay/till/devnet/accounts'
import { expect, test } from 'vitest'
import { parseConfig } from '../../shop-list.ts'
import { workerEnvironment } from './worker-environment.ts'

const chains = JSON.stringify({ arbitrum: { chain_id: 42161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } })

test('a worker of a demo joins the database and every chain of its primary, with its own wallet to settle', () => {
  const env = { PROCESSES: '2', DEVNET_PORTS: '0,0,0', CHAINS: chains, RPC_CALLS_PER_MINUTE: '1000' }
  const shared = {
    ...{ port: 4020, url: 'http://127.0.0.1:4020', databaseUrl: 'postgresql://assay:secret@127.0.0.1:5/assay' },
    rpcUrls: new Map([
      [42161, 'http://127.0.0.1:3'],
      [137, 'http://127.0.0.1:2'],
      [8453, 'http://127.0.0.1:1'],
    ]),
  }
  const worker = parseConfig(workerEnvironment(env, parseConfig(env), shared, 1))
  expect(worker.databaseUrl).toBe(shared.databaseUrl)
  expect(worker.networks.map(({ chainId, rpcUrls }) => [chainId, ...rpcUrls])).toEqual([...shared.rpcUrls].reverse())
  expect(worker.settlerKeys).toEqual(demoSettlerKeys(2))
  expect(worker.port).toBe(4020)
  expect(worker.baseUrl).toBe('http://127.0.0.1:4020')
  expect(worker.rpcCallsPerMinute).toBe(500)
})

test('what the operator named is left as it is', () => {
  const env = {
    ...{ PROCESSES: '4', BASE_URL: 'http://node.test', DATABASE_URL: 'postgresql://elsewhere/assay' },
    ...{ BASE_RPC_URLS: 'http://127.0.0.1:7', POLYGON_RPC_URLS: 'http://127.0.0.1:8' },
    SETTLER_KEYS: `0x${'11'.repeat(32)}`,
  }
  const worker = workerEnvironment(
    env,
    parseConfig(env),
    { port: 4021, url: 'http://127.0.0.1:4021', rpcUrls: new Map() },
    3,
  )
  expect(worker).toEqual({ ...env, PORT: '4021', ASSAY_WORKER: '3' })
})

test('the number of processes is checked', () => {
  expect(parseConfig({})).toMatchObject({ processes: 1, supervised: false })
  expect(parseConfig({ PROCESSES: '2' })).toMatchObject({ processes: 2, supervised: true })
  expect(parseConfig({ PROCESSES: 'auto' }).supervised).toBe(true)
  expect(() => parseConfig({ PROCESSES: '0' })).toThrow(/PROCESSES: must be auto or a number/)
  expect(() => parseConfig({ PROCESSES: '65' })).toThrow(/PROCESSES: must be at most 64/)
})
