import { request as httpRequest } from 'node:http'
import { createPublicClient, http } from 'viem'
import { expect, test } from 'vitest'
import type { Devnet } from './index.ts'
import { startTestChain, viemChain } from './test-chain.fixture.ts'

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

function post(devnet: Devnet, body: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(devnet.url ?? '', { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const chainIdCall = { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] }

test('two chains side by side serve viem over HTTP, in batches too', async () => {
  for (const chainId of [8453, 137]) {
    const devnet = await startTestChain({ chainId, port: 0 })
    const transport = http(devnet.url, { batch: true })
    const reader = createPublicClient({ chain: viemChain(devnet, devnet.url), transport })
    const [id, number, code] = await Promise.all([
      reader.getChainId(),
      reader.getBlockNumber(),
      reader.getCode({ address: '0xcA11bde05977b3631167028862bE2a173976CA11' }),
    ])
    expect(id).toBe(chainId)
    expect(number).toBe(1n)
    expect(code?.length).toBeGreaterThan(1_000)
  }
})

test('a batch is answered item by item, errors and notifications included', async () => {
  const devnet = await startTestChain({ port: 0 })
  const batch = [chainIdCall, { jsonrpc: '2.0', id: 8, method: 'no_such', params: [] }, 5, { method: 'eth_chainId' }]
  const { status, body } = await post(devnet, JSON.stringify(batch))
  expect(status).toBe(200)
  expect(JSON.parse(body)).toEqual([
    { jsonrpc: '2.0', id: 7, result: '0x2105' },
    { jsonrpc: '2.0', id: 8, error: { code: -32601, message: expect.stringContaining('no_such') } },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.any(String) } },
  ])
  expect((await post(devnet, JSON.stringify({ method: 'eth_chainId' }))).status).toBe(204)
  expect(JSON.parse((await post(devnet, '[]')).body).error.code).toBe(-32600)
})

test('what is not JSON, not POST or too long gets a proper refusal', async () => {
  const devnet = await startTestChain({ port: 0 })
  const broken = await post(devnet, '{"jsonrpc":')
  expect([broken.status, JSON.parse(broken.body).error.code]).toEqual([400, -32700])
  expect((await post(devnet, '', {}, 'GET')).status).toBe(405)
  const named = await post(devnet, JSON.stringify({ ...chainIdCall, params: { a: 1 } }))
  expect(JSON.parse(named.body).error.code).toBe(-32602)
  const long = await post(devnet, ' '.repeat(9 * 1024 * 1024)).catch(() => ({ status: 413 }))
  expect(long.status).toBe(413)
  expect((await post(devnet, JSON.stringify(chainIdCall))).status).toBe(200)
})

test('pages of this machine and wallet extensions may call, names and pages from elsewhere may not', async () => {
  const devnet = await startTestChain({ port: 0 })
  const body = JSON.stringify(chainIdCall)
  for (const origin of ['http://localhost:4020', 'http://127.0.0.1:4020', 'chrome-extension://abcdefgh']) {
    const { status, headers } = await post(devnet, body, { origin })
    expect([status, headers['access-control-allow-origin']]).toEqual([200, origin])
  }
  expect((await post(devnet, '', { origin: 'http://localhost:4020' }, 'OPTIONS')).status).toBe(204)
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
    { host: 'evil.example' },
    { host: '127.0.0.1.evil.example:80' },
  ] as Record<string, string>[])
    expect((await post(devnet, body, headers)).status).toBe(403)
})

test('a revert reaches clients as code 3 with its data, over HTTP as in process', async () => {
  const devnet = await startTestChain({ port: 0 })
  const call = { to: devnet.usdc, data: '0x8456cb59' }
  const params = [call, 'latest']
  const { body } = await post(devnet, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }))
  const { error } = JSON.parse(body)
  expect(error).toMatchObject({ code: 3, message: 'execution reverted: Ownable: caller is not the owner' })
  expect(error.data).toMatch(/^0x08c379a0/)
  await expect(devnet.request('eth_call', params)).rejects.toMatchObject({ code: 3, data: error.data })
})

test('test controls can be used from another process', async () => {
  const devnet = await startTestChain({ port: 0 })
  const call = async (method: string, params: unknown[]) =>
    JSON.parse((await post(devnet, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).body)
  await call('devnet_mine', [3])
  const { result } = await call('devnet_reorg', [2, { transactions: 'drop' }])
  expect(result.removed).toHaveLength(2)
  await call('devnet_setFinalityLag', [2])
  const finalized = await call('eth_getBlockByNumber', ['finalized', false])
  expect(Number(finalized.result.number)).toBe(devnet.control.head().number - 2)
  await call('devnet_fund', [`0x${'66'.repeat(20)}`, { microUsdc: '0x5' }])
  expect((await call('devnet_reorg', ['many'])).error.code).toBe(-32602)
})
