import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { createAssayClient, lockBond, readDemo } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { buy, decodeHeader, echoPath, quote } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till', chains: { arbitrum: 42_161 } })

const third = 'eip155:42161'

test('a chain that only the configuration names is quoted, paid on and posted', async () => {
  const url = `${till.node.url}${echoPath}?message=third`
  const quoted = await quote(url)
  expect(quoted.accepts.map(({ network }) => network)).toContain(third)
  const response = await buy(await till.newBuyer(), url, { network: third })
  expect(response.status).toBe(200)
  expect(decodeHeader<{ network: string }>(response.headers.get('payment-response')).network).toBe(third)
  const { rows } = await till.db.database.query<{ network: string }>(
    `select distinct network from transfer where network = $1`,
    [third],
  )
  expect(rows).toHaveLength(1)
})

test('the index and the configuration name it by its own word', async () => {
  const index = (await (await fetch(till.node.url)).json()) as { demo: { chains: { network: string }[] } }
  expect(index.demo.chains.map(({ network }) => network)).toEqual(['eip155:8453', 'eip155:137', third])
  expect(till.node.config.networks.map(({ name }) => name)).toEqual(['base', 'polygon', 'arbitrum'])
})

async function assay(...args: string[]) {
  const terminal = createTestTerminal({ env: { ASSAY_KEY: demoAccount('buyer').privateKey } })
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

test.each(['arbitrum', third])('assay buy --demo --network %s pays on it', async (network) => {
  const url = `${till.node.url}${echoPath}?message=demo`
  const { code, out, err } = await assay('buy', url, '--demo', '--network', network, '--json')
  expect(code, err).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ payment: { status: 'settled', network: third } })
})

test('without a demo wallet, the chain is given by its id and the address of its USDC', async () => {
  const { networks } = await readDemo(till.node.url)
  const usdc = networks.find(({ network }) => network === third)?.usdc as string
  const url = `${till.node.url}${echoPath}?message=own`
  const args = ['buy', url, '--network', third, '--max-amount', '0.01', '--json']
  const { code, out, err } = await assay(...args, '--usdc', usdc)
  expect(code, err).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ payment: { network: third } })
  const unnamed = await assay(...args)
  expect(unnamed.code).toBe(2)
  expect(unnamed.err).toContain('--usdc')
})

test('a chain that the demo node does not have is refused with those that it has', async () => {
  const { code, err } = await assay('buy', `${till.node.url}${echoPath}`, '--demo', '--network', 'base-sepolia')
  expect(code).toBe(2)
  expect(err).toContain('base, polygon, arbitrum')
})

test('credit is paid in on it, locked in a bond and sent back', async () => {
  const place = ['--url', till.node.url, '--demo', '--on', 'arbitrum'] as const
  const paid = await assay('credit', 'topup', '5', ...place, '--json')
  expect(paid.code, paid.err).toBe(0)
  expect(JSON.parse(paid.out)).toMatchObject({ answer: { network: third } })
  await until(
    'the credit is final',
    async () => (await assay('credit', 'bond', '1', '--days', '1', ...place)).code === 0,
  )
  const back = await assay('credit', 'refund', '--usd', '2', ...place, '--json')
  expect(back.code, back.err).toBe(0)
  expect(JSON.parse(back.out)).toMatchObject({ refunds: [{ network: third }] })
})

test('a chain that the node does not have is refused by name', async () => {
  const account = privateKeyToAccount(demoAccount('buyer').privateKey)
  const client = createAssayClient({ account, networks: [], maxPerCallUsd: '0.01' })
  const asked = { node: till.node.url, account, usd: '1', days: 1, network: 'eip155:10' }
  await expect(lockBond(client, asked)).rejects.toThrow(`eip155:8453, eip155:137, ${third}`)
})
