import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callOperation } from '../packages/sdk/src/call-operation.ts'
import { createAssayClient, readDemoNetworks } from '../packages/sdk/src/index.ts'
import { operationsFile, operationsSource } from '../scripts/generate-operations.mjs'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { useTill } from './harness/use-till.ts'

let mcp: Client
const till = useTill()
beforeAll(async () => {
  mcp = await connect()
}, 120_000)
afterAll(async () => {
  await mcp?.close()
})

async function connect(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${till.node.url}/mcp`)) as never)
  return client
}

// biome-ignore lint/suspicious/noExplicitAny: results are checked member by member
type Result = any
const call = (name: string, args: Record<string, unknown>, meta?: Record<string, unknown>): Promise<Result> =>
  mcp.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) })

/** The stock buyer makes the payment from what the tool asked for. */
async function payFor(account: PrivateKeyAccount, asked: Result): Promise<unknown> {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(client, { signer: account })
  return client.createPaymentPayload(asked.structuredContent)
}

test('tools are listed with their prices, each with a schema, and none that an MCP client could not call', async () => {
  const { tools } = await mcp.listTools()
  const named = (name: string) => tools.find((tool) => tool.name === name)
  expect(named('tokens_check')?.description).toContain('Free')
  expect(named('tokens_report')?.description).toContain('Costs 0.02 USD')
  expect(named('citations_match')?.inputSchema).toMatchObject({ type: 'object', required: ['query'] })
  expect(named('subscriptions_rotate')).toBeUndefined()
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
  for (const { name, description } of tools) {
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(description).toMatch(/Free\.|Costs/)
  }
})

test('a free tool answers without a wallet, with the signature of its answer', async () => {
  const [token] = ((await (await fetch(till.node.url)).json()) as Result).demo.tokens
  const result = await call('tokens_check', { address: token.address })
  expect(result.isError).toBeUndefined()
  expect(result.structuredContent).toMatchObject({ verdict: expect.any(String), powers: expect.anything() })
  expect(result._meta['assay/response'].signature).toMatch(/^sig/)
})

test('a paid tool names its price, is bought with a payment of the stock client, and once only', async () => {
  const buyer = await till.newBuyer()
  const args = { message: 'over mcp' }
  const asked = await call('sandbox_echo_get', args)
  expect(asked).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
  expect(JSON.parse(asked.content[0].text)).toEqual(asked.structuredContent)
  const payment = await payFor(buyer, asked)
  const bought = await call('sandbox_echo_get', args, { 'x402/payment': payment })
  expect(bought.isError).toBeUndefined()
  expect(bought.structuredContent).toMatchObject({ echo: 'over mcp', paid_by: buyer.address.toLowerCase() })
  expect(bought._meta['x402/payment-response']).toMatchObject({ success: true, amount: '1000' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  // The same payment for other arguments, and for the same ones by anyone who read it from the chain.
  const elsewhere = await call('sandbox_echo_get', { message: 'another' }, { 'x402/payment': payment })
  expect(elsewhere.isError).toBe(true)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  await expectSoundBooks(till)
})

test('a tool with a body is bought as well, and the wrong arguments of a paid one cost nothing', async () => {
  const buyer = await till.newBuyer()
  const before = (await paymentRows(till)).length
  const wrong = await call('sandbox_echo_get', { message: 'x', surplus: 1 })
  expect(wrong).toMatchObject({ isError: true, structuredContent: { code: 'input_invalid' } })
  const malformed = await call('sandbox_echo_get', { message: 'x' }, { 'x402/payment': 'text' })
  expect(malformed).toMatchObject({ isError: true, structuredContent: { code: 'payment_malformed' } })
  expect((await paymentRows(till)).length).toBe(before)
  const args = { query: 'short squeeze' }
  const asked = await call('citations_match', args)
  const bought = await call('citations_match', args, { 'x402/payment': await payFor(buyer, asked) })
  expect(bought.structuredContent).toMatchObject({ query_id: expect.any(String), data: expect.any(Array) })
})

test('whatever stands in place of a payment, a tool and a resource refuse it in words and take nothing', async () => {
  const before = (await paymentRows(till)).length
  const [token] = ((await (await fetch(till.node.url)).json()) as Result).demo.tokens
  const strange = [7, true, null, [], {}, { x402Version: 2 }, { x402Version: 2, payload: { signature: '0x' } }]
  const large = { x402Version: 2, accepted: {}, payload: { signature: 'x'.repeat(20_000) } }
  for (const payment of [...strange, large]) {
    const meta = { 'x402/payment': payment }
    const shown = JSON.stringify(payment)?.slice(0, 60)
    const refused = await call('sandbox_echo_get', { message: 'x' }, meta)
    expect(refused, shown).toMatchObject({ isError: true, structuredContent: { code: 'payment_malformed' } })
    const uri = `${till.node.url}/v1/report/${token.address}`
    const error: Result = await mcp.readResource({ uri, _meta: meta }).catch((thrown: unknown) => thrown)
    expect(error.data, shown).toMatchObject({ code: 'payment_malformed' })
  }
  expect((await paymentRows(till)).length).toBe(before)
})

test('resources are read by address; a paid one asks for its price and is given for it', async () => {
  const { resources } = await mcp.listResources()
  const { resourceTemplates } = await mcp.listResourceTemplates()
  expect(resources.map(({ uri }) => uri)).toContain(`${till.node.url}/llms.txt`)
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(`${till.node.url}/v1/report/{address}`)
  const text: Result = await mcp.readResource({ uri: `${till.node.url}/llms.txt` })
  expect(text.contents[0].text).toContain('# Assay')
  const [token] = ((await (await fetch(till.node.url)).json()) as Result).demo.tokens
  const uri = `${till.node.url}/v1/report/${token.address}`
  const asked = await mcp.readResource({ uri }).then(
    () => undefined,
    (error: Result) => error,
  )
  expect(asked).toMatchObject({ code: 402, data: { x402Version: 2 } })
  const payment = await payFor(await till.newBuyer(), { structuredContent: asked.data })
  const read: Result = await mcp.readResource({ uri, _meta: { 'x402/payment': payment } })
  expect(JSON.parse(read.contents[0].text)).toMatchObject({ verdict: expect.any(String) })
  expect(read._meta['x402/payment-response']).toMatchObject({ success: true })
  await expect(mcp.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32602 })
  await expect(mcp.readResource({ uri: `${till.node.url}/metrics` })).rejects.toMatchObject({ code: -32602 })
})

test('what is not MCP is told so', async () => {
  const post = (body: string) =>
    fetch(`${till.node.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect((await post('{}')).status).toBe(400)
  expect((await post('[]')).status).toBe(400)
  expect((await fetch(`${till.node.url}/mcp`)).status).toBe(405)
  const unknown = (await (
    await post(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'nothing' } }))
  ).json()) as Result
  expect(unknown).toMatchObject({ id: 7, error: { code: -32602 } })
})

test('`assay mcp` lends the tools over pipes and buys within its maximums', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const args = ['packages/cli/bin/assay.mjs', 'mcp', '--url', till.node.url, '--demo', '--max-amount', '0.01']
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env: { PATH: process.env.PATH ?? '' },
      stderr: 'ignore',
    }),
  )
  try {
    const ask = (name: string, given: Record<string, unknown>): Promise<Result> =>
      client.callTool({ name, arguments: given })
    expect((await client.listTools()).tools.length).toBe((await mcp.listTools()).tools.length)
    const bought = await ask('sandbox_echo_get', { message: 'piped' })
    expect(bought).toMatchObject({
      structuredContent: { echo: 'piped' },
      _meta: { 'assay/payment': 'settled', 'assay/signature': 'verified' },
    })
    const [token] = ((await (await fetch(till.node.url)).json()) as Result).demo.tokens
    const dear = await ask('tokens_report', { address: token.address })
    expect(dear).toMatchObject({ isError: true })
    expect(dear.content[0].text).toContain('above the maximum')
  } finally {
    await client.close()
  }
})

test('the typed operations of the SDK are those of the node, and can be called', async () => {
  const openapi = await (await fetch(`${till.node.url}/openapi/full.json`)).json()
  // `npm run operations` against a running node writes the file again.
  expect(readFileSync(operationsFile, 'utf8')).toBe(operationsSource(openapi))
  const client = createAssayClient({
    account: await till.newBuyer(),
    baseUrl: till.node.url,
    maxPerCallUsd: '0.01',
    networks: await readDemoNetworks(till.node.url),
  })
  const { data } = await callOperation(client, 'sandbox.echo.get', { query: { message: 'typed' } })
  expect(data.echo).toBe('typed')
  const refused = callOperation(client, 'tokens.check', { params: { address: '0x12' } })
  await expect(refused).rejects.toMatchObject({ code: 'request_failed' })
})

test('the main OpenAPI document has room for an agent, spells out all that is sold, and leads to the rest', async () => {
  const read = async (path: string) => (await (await fetch(`${till.node.url}${path}`)).json()) as Result
  const [main, full] = await Promise.all([read('/openapi.json'), read('/openapi/full.json')])
  const methods = (item: Result) => Object.keys(item).filter((name) => name !== '$ref')
  const inline = Object.values(main.paths).flatMap((item) => methods(item as Result))
  // More than this and `npx @agentcash/discovery` warns.
  expect(inline.length).toBeLessThanOrEqual(40)
  expect(Object.keys(main.paths).sort()).toEqual(Object.keys(full.paths).sort())
  for (const [path, item] of Object.entries(main.paths) as [string, Result][]) {
    if (item.$ref === undefined) expect(item, path).toEqual(full.paths[path])
    else {
      expect(item, path).toEqual({ $ref: `/openapi/full.json#/paths/${path.replaceAll('/', '~1')}` })
      const operations = Object.values(full.paths[path]) as Result[]
      expect(operations.filter((operation) => operation['x-payment-info'])).toEqual([])
    }
  }
})

test('PAYMENT-REQUIRED of every paid route fits in 3 kB', async () => {
  const openapi = (await (await fetch(`${till.node.url}/openapi.json`)).json()) as Result
  const paid = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Result).flatMap(([method, operation]: [string, Result]) =>
      operation['x-payment-info'] ? [{ path, method, operation }] : [],
    ),
  )
  expect(paid.length).toBeGreaterThan(10)
  for (const { path, method, operation } of paid) {
    const example = (name: string) => operation.parameters.find((one: Result) => one.name === name)?.example ?? 'x'
    const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(example(name)))
    const response = await fetch(`${till.node.url}${filled}`, { method })
    // What needs a licence or is switched off says so before any price.
    if (response.status === 403 || response.status === 503) continue
    expect([path, response.status]).toEqual([path, 402])
    const required = response.headers.get('payment-required') ?? ''
    expect(required.length, path).toBeLessThan(3_072)
    const challenges = response.headers.get('www-authenticate') ?? ''
    expect(challenges, path).toMatch(/^Payment id="/)
    expect(required.length + challenges.length, path).toBeLessThan(5_120)
  }
})
