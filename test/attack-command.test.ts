import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { expectSoundBooks } from './harness/invariants.ts'
import { echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const attackerKey = `0x${'11'.repeat(32)}` as const
let careless: Server

const till = useTill({ ownShops: 'till' })
beforeAll(async () => {
  careless = createServer(carelessSeller)
  await new Promise<void>((resolve) => careless.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  careless.closeAllConnections()
  await new Promise((resolve) => careless.close(resolve))
})

/** Sells to anyone who sends something that looks like a payment, and takes its own name from the caller. */
const carelessSeller: RequestListener = (request, response) => sellCarelessly(request, response)

function sellCarelessly(
  ...[request, response, asset = '0x00000000000000000000000000000000000000a1']: [
    ...Parameters<RequestListener>,
    string?,
  ]
) {
  if (!URL.canParse(request.url ?? '', 'http://seller')) return response.writeHead(400).end()
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://seller')
  if (request.method === 'HEAD' || (request.headers['payment-signature'] && pathname.startsWith('/v1')))
    return response.end(JSON.stringify({ answer: searchParams.get('message') }))
  const required = {
    x402Version: 2,
    resource: { url: `http://${request.headers.host}${request.url}` },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '1000',
        asset,
        payTo: '0x00000000000000000000000000000000000000b2',
        maxTimeoutSeconds: 60,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  }
  response.writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') })
  response.end('{}')
}

/** Takes the money of the party that hangs up and keeps the answer; its chain is asked at the same address. */
function openCharger(): Server {
  const used = new Set<string>()
  let chargedMicro = 0n
  return createServer((request, response) => {
    if (request.method === 'POST') {
      const balance = 1_000_000n - chargedMicro
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ jsonrpc: '2.0', id: 1, result: `0x${balance.toString(16).padStart(64, '0')}` }),
      )
    }
    const payment = request.headers['payment-signature']
    if (typeof payment !== 'string') return carelessSeller(request, response)
    if (used.has(payment)) return response.writeHead(409).end('{}')
    used.add(payment)
    chargedMicro += 1_000n
    // Only the first is left to hang up; all others are answered at once.
    if (used.size > 1) return response.end('{"answer":"paid for again"}')
    request.socket.once('end', () => request.socket.destroy())
  })
}

type Report = { held: number; broken: number; attacks: { id: string; verdict: string; detail: string }[] }

async function attack(...args: string[]): Promise<{ code: number; report: Report; err: string }> {
  const terminal = createTestTerminal({ env: { ASSAY_KEY: attackerKey } })
  const code = await runCli(['attack', ...args, '--json'], terminal)
  const out = terminal.stdout()
  return { code, report: code === 2 ? ({} as Report) : (JSON.parse(out) as Report), err: terminal.stderr() }
}

test('the whole catalogue against a node of ours: nothing served, charged or leaked', async () => {
  const { code, report } = await attack(`${till.node.url}${echoPath}?message=hi`, '--demo')
  expect(report.attacks.filter(({ verdict }) => verdict !== 'held')).toEqual([])
  expect(report.held).toBeGreaterThan(21)
  expect(code).toBe(0)
  await expectSoundBooks(till)
}, 180_000)

test('a careless seller is shown where it leaks', async () => {
  const { port } = careless.address() as AddressInfo
  const { code, report } = await attack(`http://127.0.0.1:${port}/v1/thing?message=hi`)
  const broken = report.attacks.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id)
  for (const id of ['head', 'host', 'underpay', 'other-payee', 'signature', 'no-funds', 'storm', 'replay', 'malformed'])
    expect(broken).toContain(id)
  expect(code).toBe(1)
})

test('a seller that does not look at the chain sells for nonces used otherwise, and behind a flood of headers', async () => {
  const { base } = till
  await base.control.fund(privateKeyToAccount(attackerKey).address.toLowerCase() as `0x${string}`)
  const trusting = createServer((request, response) => sellCarelessly(request, response, base.usdc))
  trusting.maxHeadersCount = 0
  await new Promise<void>((resolve) => trusting.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(trusting.address() as AddressInfo).port}/v1/thing`
    const only = 'double-signed-nonce,late-facilitator,header-flood'
    const { code, report } = await attack(url, '--only', only, '--rpc', base.url ?? '')
    expect(report.attacks.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(
      only.split(',').map((id) => `${id} broken`),
    )
    expect(code).toBe(1)
  } finally {
    trusting.closeAllConnections()
    await new Promise((resolve) => trusting.close(resolve))
  }
})

test('a seller that keeps the money of whoever hangs up is caught, whenever it notices', async () => {
  const charger = openCharger()
  await new Promise<void>((resolve) => charger.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(charger.address() as AddressInfo).port}/v1/thing`
    const { code, report } = await attack(url, '--only', 'hang-up', '--rpc', url)
    expect(report.attacks).toMatchObject([{ verdict: 'broken', detail: 'charged 2 times after a hang-up' }])
    expect(code).toBe(1)
  } finally {
    charger.closeAllConnections()
    await new Promise((resolve) => charger.close(resolve))
  }
})

test('other machines are left alone unless their owner says so, and what is no seller is told', async () => {
  const remote = await attack('https://seller.example/v1/thing')
  expect(remote.code).toBe(2)
  expect(remote.err).toContain('--this-seller-is-mine')
  expect((await attack(`${till.node.url}/livez`)).code).toBe(2)
  expect((await attack(`${till.node.url}${echoPath}`, '--only', 'nothing')).code).toBe(2)
})
