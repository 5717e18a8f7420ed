import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Facilitator } from '../packages/till/src/index.ts'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { earlierClient, laterClient, type McpBuyer, paysByMpp, payTerms, type Result } from './harness/mcp-clients.ts'
import { decodeHeader, encodePayload } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

let lost = false
const losing = (real: Facilitator): Facilitator => ({
  ...real,
  settle: (...given) => (lost ? Promise.resolve({ status: 'unknown', reason: 'timeout' }) : real.settle(...given)),
})
const till = useTill({ intercept: { facilitator: losing } })
const opened: { close(): Promise<void> }[] = []
const versions = ['2025-11-25', '2026-07-28'] as const
const clients = {} as Record<(typeof versions)[number], McpBuyer>
const open = <C extends { close(): Promise<void> }>(client: C): C => {
  opened.push(client)
  return client
}
beforeAll(async () => {
  clients['2025-11-25'] = open(await earlierClient(till.node.url)) as never
  clients['2026-07-28'] = open(await laterClient(till.node.url)) as never
}, 120_000)
afterAll(() => Promise.all(opened.map((client) => client.close())))

const price = 1_000n
const echoUrl = (message: string) => `${till.node.url}/v1/sandbox/echo?message=${message}`
const echo = (client: McpBuyer, message: string, meta?: Record<string, unknown>): Promise<Result> =>
  client.callTool({ name: 'sandbox_echo', arguments: { message }, ...(meta ? { _meta: meta } : {}) })
const post = async (message: unknown, headers: Record<string, string> = {}): Promise<Result> => {
  const response = await fetch(`${till.node.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  })
  return { status: response.status, body: await response.json() }
}
const token = async () => ((await (await fetch(till.node.url)).json()) as Result).demo.tokens[0].address as string

describe.each(versions)('by version %s', (version) => {
  test('each thing sold is one tool, with its price and the shape of its answer', async () => {
    const { tools } = await clients[version].listTools()
    const named = (name: string) => tools.find((tool) => tool.name === name)
    expect(tools.length).toBeLessThanOrEqual(32)
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    expect(named('tokens_check')?.description).toContain('Free')
    expect(named('tokens_report')?.description).toContain('Costs 0.02 USD')
    expect(named('citations_match')?.inputSchema).toMatchObject({ type: 'object', required: ['query'] })
    expect(named('subscriptions_standard')?.inputSchema.properties.network.enum).toEqual(['eip155:8453', 'eip155:137'])
    for (const absent of ['subscriptions_rotate', 'sandbox_echo_get', 'sandbox_echo_post', 'mesh_manifest'])
      expect(named(absent), absent).toBeUndefined()
    for (const { name, description, outputSchema, _meta } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(description).toMatch(/Free\.|Costs/)
      expect(outputSchema, name).toMatchObject({ type: 'object' })
      expect(_meta['assay/group'], name).toEqual(expect.any(String))
    }
    const groups = tools.map(({ _meta }) => _meta['assay/group'])
    expect(groups).toEqual([...groups].sort())
  })

  test('a free tool answers without a wallet, with the signature of its answer', async () => {
    const result = await clients[version].callTool({ name: 'tokens_check', arguments: { address: await token() } })
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toMatchObject({ verdict: expect.any(String), powers: expect.anything() })
    expect(result._meta['assay/response'].signature).toMatch(/^sig/)
  })

  test('a paid tool names its price, is bought with a payment of the stock client, and once only', async () => {
    const client = clients[version]
    const buyer = await till.newBuyer()
    const asked = await echo(client, 'x402')
    expect(asked).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    expect(asked.structuredContent.resource.url).toMatch(
      new RegExp(`^mcp://${new URL(till.node.url).host}/tools/sandbox_echo\\?input=[\\w-]{43}$`),
    )
    expect(asked.structuredContent.accepts.map(({ scheme }: Result) => scheme)).not.toContain('credit')
    expect(asked.structuredContent.extensions).not.toHaveProperty('bazaar')
    expect(asked.structuredContent.extensions).not.toHaveProperty('credit')
    expect(JSON.parse(asked.content[0].text)).toEqual(asked.structuredContent)
    const payment = await payTerms(buyer, asked.structuredContent)
    const bought = await echo(client, 'x402', { 'x402/payment': payment })
    expect(bought.isError).toBeUndefined()
    expect(bought.structuredContent).toMatchObject({ echo: 'x402', paid_by: buyer.address })
    expect(bought._meta['x402/payment-response']).toMatchObject({ success: true, amount: '1000' })
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
    const elsewhere = await echo(client, 'another', { 'x402/payment': payment })
    expect(elsewhere).toMatchObject({ isError: true })
    expect(elsewhere.structuredContent).not.toHaveProperty('accepts')
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
    await expectSoundBooks(till)
  })

  test('a paid tool is bought by mppx with a receipt of its own dialect', async () => {
    const buyer = await till.newBuyer()
    const inner = version === '2026-07-28' ? laterClient(till.node.url) : earlierClient(till.node.url)
    const client = paysByMpp(open(await inner) as never, buyer)
    const bought = await echo(client, 'mpp')
    expect(bought.structuredContent).toMatchObject({ echo: 'mpp', paid_by: buyer.address })
    expect(bought.receipt).toMatchObject({ status: 'success', method: 'evm', challengeId: expect.any(String) })
    expect(bought._meta).not.toHaveProperty('x402/payment-response')
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
  })

  test('a tool with a body is bought as well, and wrong arguments of a paid one cost nothing', async () => {
    const client = clients[version]
    const before = (await paymentRows(till)).length
    const wrong = await client.callTool({ name: 'sandbox_echo', arguments: { message: 'x', surplus: 1 } })
    expect(wrong).toMatchObject({ isError: true, structuredContent: { code: 'input_invalid' } })
    const chain = await client.callTool({ name: 'subscriptions_standard', arguments: { network: 'eip155:1' } })
    expect(chain).toMatchObject({ isError: true, structuredContent: { code: 'input_invalid' } })
    expect((await paymentRows(till)).length).toBe(before)
    const match = (meta?: Record<string, unknown>) =>
      client.callTool({ name: 'citations_match', arguments: { query: 'short squeeze' }, ...(meta && { _meta: meta }) })
    const payment = await payTerms(await till.newBuyer(), (await match()).structuredContent)
    const bought = await match({ 'x402/payment': payment })
    expect(bought.structuredContent).toMatchObject({ query_id: expect.any(String), data: expect.any(Array) })
  })

  test('a subscription is paid on the chain that the arguments name', async () => {
    const asked = await clients[version].callTool({
      name: 'subscriptions_standard',
      arguments: { network: 'eip155:137' },
    })
    expect(asked._meta['assay/request'].url).toBe(`${till.node.url}/poly/matrix/subscribe/standard`)
  })

  test('a resource is read by its address; a paid one asks for its price and is given for it', async () => {
    const client = clients[version]
    const text = await client.readResource({ uri: `${till.node.url}/llms.txt` })
    expect(text.contents[0].text).toContain('# Assay')
    const uri = `${till.node.url}/v1/report/${await token()}`
    const asked = await client.readResource({ uri }).catch((error: unknown) => error)
    expect(asked).toMatchObject({ code: version === '2026-07-28' ? 402 : -32042, data: { x402Version: 2 } })
    expect(asked.data.challenges[0]).toMatchObject({ method: 'evm', intent: 'charge', request: { amount: '20000' } })
    const payment = await payTerms(await till.newBuyer(), asked.data)
    const read = await client.readResource({ uri, _meta: { 'x402/payment': payment } })
    expect(JSON.parse(read.contents[0].text)).toMatchObject({ verdict: expect.any(String) })
    expect(read._meta['x402/payment-response']).toMatchObject({ success: true })
    // The same payment at the same address by HTTP.
    const byHttp = await fetch(uri, { headers: { 'payment-signature': encodePayload(payment) } })
    expect(byHttp.status).toBe(409)
    for (const other of ['file:///etc/passwd', `${till.node.url}/metrics`])
      await expect(client.readResource({ uri: other })).rejects.toMatchObject({ code: -32602 })
  })

  test('whatever is in place of a payment, a tool and a resource refuse it in words and take nothing', async () => {
    const before = (await paymentRows(till)).length
    const uri = `${till.node.url}/v1/report/${await token()}`
    const strange = [7, true, null, [], {}, { x402Version: 2 }, { x402Version: 2, payload: { signature: '0x' } }]
    const large = { x402Version: 2, accepted: {}, payload: { signature: 'x'.repeat(20_000) } }
    const credentials = [
      { challenge: 1 },
      { challenge: {}, payload: {} },
      { challenge: { request: 5 }, payload: large },
    ]
    const metas = [
      ...[...strange, large].map((payment) => ({ 'x402/payment': payment })),
      ...[...strange.slice(0, 5), ...credentials].map((one) => ({ 'org.paymentauth/credential': one })),
      { 'x402/payment': { x402Version: 2 }, 'org.paymentauth/credential': { challenge: {}, payload: {} } },
    ]
    for (const meta of metas) {
      const shown = JSON.stringify(meta).slice(0, 80)
      const refused = await echo(clients[version], 'x', meta)
      expect(refused, shown).toMatchObject({ isError: true, structuredContent: { code: 'payment_malformed' } })
      const error = await clients[version].readResource({ uri, _meta: meta }).catch((thrown: unknown) => thrown)
      expect(error.data, shown).toMatchObject({ code: 'payment_malformed' })
    }
    expect((await paymentRows(till)).length).toBe(before)
  })

  test('an outcome that is not known is an error with where to follow it, and never a price', async () => {
    const client = clients[version]
    const buyer = await till.newBuyer()
    const payment = await payTerms(buyer, (await echo(client, 'lost')).structuredContent)
    lost = true
    try {
      for (let n = 0; n < 2; n += 1) {
        const unknown = await echo(client, 'lost', { 'x402/payment': payment })
        expect(unknown.isError).toBe(true)
        expect(unknown.structuredContent.code).toMatch(/^(settlement_unknown|payment_in_flight)$/)
        expect(unknown.structuredContent.status_url).toMatch(/\/v1\/payments\/pay_/)
        expect(unknown.structuredContent).not.toHaveProperty('accepts')
        expect(unknown._meta).not.toHaveProperty('org.paymentauth/payment-required')
      }
    } finally {
      lost = false
    }
  })
})

test('both dialects of a purchase are distinguished from other arguments, not from what accompanies them', async () => {
  const buyer = await till.newBuyer()
  const seen: Result[] = []
  const client = paysByMpp(open(await laterClient(till.node.url)) as never, buyer, seen)
  const args = { query: 'short squeeze', limit: 3 }
  const bought = await client.callTool({ name: 'citations_match', arguments: args })
  const [credential] = seen
  const again = (given: Record<string, unknown>, meta = {}) =>
    clients['2025-11-25'].callTool({
      name: 'citations_match',
      arguments: given,
      _meta: { ...meta, 'org.paymentauth/credential': credential },
    })
  // The same arguments in another order, with other metadata, by another version of the protocol.
  const same = await again({ limit: 3, query: 'short squeeze' }, { progressToken: 7 })
  expect(same.structuredContent).toEqual(bought.structuredContent)
  expect(same._meta['org.paymentauth/receipt']).toEqual(bought.receipt)
  const other = await again({ ...args, limit: 4 })
  expect(other).toMatchObject({ isError: true, structuredContent: { code: 'payment_resource_mismatch' } })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
})

describe('a payment for a tool is not one for the HTTP request behind it', () => {
  test('by x402, in either direction, before and after it was used', async () => {
    const client = clients['2026-07-28']
    const buyer = await till.newBuyer()
    const payment = await payTerms(buyer, (await echo(client, 'cross')).structuredContent)
    const byHttp = (sent: unknown) =>
      fetch(echoUrl('cross'), { headers: { 'payment-signature': encodePayload(sent as never) } })
    expect((await byHttp(payment)).status).toBe(409)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
    expect((await echo(client, 'cross', { 'x402/payment': payment })).isError).toBeUndefined()
    const { resource: _named, ...unnamed } = payment
    expect((await byHttp(unnamed)).status).toBe(409)

    const quoted = decodeHeader((await fetch(echoUrl('cross'))).headers.get('payment-required') ?? '')
    const direct = await payTerms(buyer, quoted)
    const refused = await echo(client, 'cross', { 'x402/payment': direct })
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'payment_resource_mismatch' } })
    expect((await byHttp(direct)).status).toBe(200)
    const { resource: _also, ...hidden } = direct
    const replayed = await echo(client, 'cross', { 'x402/payment': hidden })
    expect(replayed).toMatchObject({ isError: true })
    expect(replayed.structuredContent).not.toHaveProperty('echo')
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(2n * price)
  })

  test('by the Payment scheme: the challenge says which way it is for', async () => {
    const buyer = await till.newBuyer()
    const seen: Result[] = []
    const client = paysByMpp(open(await laterClient(till.node.url)) as never, buyer, seen)
    await echo(client, 'way')
    const [credential] = seen
    const request = Buffer.from(JSON.stringify(credential.challenge.request)).toString('base64url')
    const wire = { ...credential, challenge: { ...credential.challenge, request } }
    const authorization = `Payment ${Buffer.from(JSON.stringify(wire)).toString('base64url')}`
    const byHttp = await fetch(echoUrl('way'), { headers: { authorization } })
    expect(byHttp.status).toBe(409)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
  })
})

test('the payment extension is used with a client that knows it, for tools and resources, and with nobody else', async () => {
  const results: Result[] = []
  const tapped: typeof fetch = async (...given) => {
    const response = await fetch(...given)
    if ((given[1]?.method ?? 'GET') === 'POST') results.push(((await response.clone().json()) as Result).result)
    return response
  }
  const extensions = { 'org.x402/payment': {} }
  const client = open(await laterClient(till.node.url, { extensions, fetch: tapped }))
  expect(client.getServerCapabilities()).toMatchObject({ extensions })
  await expect(echo(client as never, 'extension')).rejects.toMatchObject({ code: 'UNSUPPORTED_RESULT_TYPE' })
  const asked = results.at(-1)
  expect(asked).toMatchObject({ resultType: 'payment_required', paymentRequired: { x402Version: 2 } })
  expect(asked).not.toHaveProperty('isError')
  const buyer = await till.newBuyer()
  const payment = await payTerms(buyer, asked.paymentRequired)
  const bought = await echo(client as never, 'extension', { 'x402/payment': payment })
  expect(bought.structuredContent).toMatchObject({ echo: 'extension', paid_by: buyer.address })
  const uri = `${till.node.url}/v1/report/${await token()}`
  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: 'UNSUPPORTED_RESULT_TYPE' })
  expect(results.at(-1)).toMatchObject({ resultType: 'payment_required' })
})

test('prompts lead through the main jobs, with tools that exist', async () => {
  const client = open(await laterClient(till.node.url))
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['check_token', 'cite_sources', 'scan_squeezes'])
  const tools = new Set((await client.listTools()).tools.map(({ name }) => name))
  for (const { name, arguments: given = [] } of prompts) {
    const values = Object.fromEntries(given.map((one) => [one.name, 'SAMPLE']))
    const { messages } = await client.getPrompt({ name, arguments: values })
    const text = (messages[0] as Result).content.text as string
    expect(text).toContain('SAMPLE')
    for (const [tool] of text.matchAll(/\b(?:tokens|matrix|citations|cite)_[a-z]+\b/g)) expect(tools).toContain(tool)
  }
  await expect(client.getPrompt({ name: 'check_token' })).rejects.toMatchObject({ code: -32602 })
  await expect(client.getPrompt({ name: 'none' })).rejects.toMatchObject({ code: -32602 })
})

test('a credential may be at the root of a message, and must not differ from one in its params', async () => {
  const buyer = await till.newBuyer()
  const seen: Result[] = []
  await echo(paysByMpp(open(await earlierClient(till.node.url)) as never, buyer, seen), 'root')
  const message = (_meta: object, params: object = {}) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', _meta },
    params: { name: 'sandbox_echo', arguments: { message: 'root' }, ...params },
  })
  const atRoot = { 'org.paymentauth/credential': seen[0] }
  const other = { 'org.paymentauth/credential': { ...seen[0], source: 'did:pkh:eip155:1:0x' } }
  expect((await post(message(atRoot))).body.result.structuredContent).toMatchObject({ echo: 'root' })
  expect((await post(message(atRoot, { _meta: atRoot }))).body.result.structuredContent).toMatchObject({ echo: 'root' })
  expect(await post(message(atRoot, { _meta: other }))).toMatchObject({
    status: 400,
    body: { code: 'payment_malformed' },
  })
})

test('what is not MCP is refused, and nothing is left open', async () => {
  expect((await post({})).status).toBe(400)
  expect((await post([])).status).toBe(400)
  expect((await fetch(`${till.node.url}/mcp`)).status).toBe(405)
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'nothing' } }
  expect((await post(call)).body).toMatchObject({ id: 7, error: { code: -32602 } })
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const listen = {
    jsonrpc: '2.0',
    id: 8,
    method: 'subscriptions/listen',
    params: { notifications: {}, _meta: envelope },
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  expect((await post(listen, headers)).body).toMatchObject({ id: 8, error: {} })
})

test('`assay mcp` serves the tools over pipes and buys within its maximums', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const args = ['packages/cli/bin/assay.mjs', 'mcp', '--url', till.node.url, '--demo', '--max-amount', '0.01']
  const env = { PATH: process.env.PATH ?? '' }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
  try {
    const ask = (name: string, given: Record<string, unknown>): Promise<Result> =>
      client.callTool({ name, arguments: given })
    const { tools } = await client.listTools()
    expect(tools.length).toBe((await clients['2025-11-25'].listTools()).tools.length)
    expect((await client.listPrompts()).prompts.length).toBe(3)
    // Here a call pays at once, and nothing that a model reads may say otherwise.
    const { messages } = await client.getPrompt({ name: 'cite_sources', arguments: { claim: 'shorts cover' } })
    for (const text of [
      ...tools.map(({ description }) => description),
      JSON.stringify(messages),
      client.getInstructions(),
    ])
      expect(text).not.toMatch(/without a payment/i)
    expect(tools.find(({ name }) => name === 'sandbox_echo')?.description).toContain('Calling it pays at once')
    const bought = await ask('sandbox_echo', { message: 'piped' })
    expect(bought).toMatchObject({
      structuredContent: { echo: 'piped' },
      _meta: { 'assay/payment': 'settled', 'assay/signature': 'verified' },
    })
    const dear = await ask('tokens_report', { address: await token() })
    expect(dear).toMatchObject({ isError: true })
    expect(dear.content[0].text).toMatch(/above the maximum.*Raise --max-amount/)
  } finally {
    await client.close()
  }
})
