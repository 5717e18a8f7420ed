import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { callOperation } from '../packages/sdk/src/call-operation.ts'
import { createAssayClient, readDemoNetworks } from '../packages/sdk/src/index.ts'
import { operationsFile, operationsSource } from '../scripts/generate-operations.mjs'
import { useTill } from './harness/use-till.ts'

const till = useTill()

// biome-ignore lint/suspicious/noExplicitAny: results are checked member by member
type Result = any

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
  const operationsOf = ({ paths }: Result) => Object.values(paths).flatMap((item) => Object.values(item as object))
  // More than this and `npx @agentcash/discovery` warns.
  expect(operationsOf(main).length).toBeLessThanOrEqual(40)
  for (const [path, item] of Object.entries(main.paths)) expect(item, path).toEqual(full.paths[path])
  const isPaid = (operation: Result) => operation['x-payment-info'] !== undefined
  expect(operationsOf(main).filter(isPaid)).toHaveLength(operationsOf(full).filter(isPaid).length)
  expect(main.externalDocs.url).toBe(`${full.servers[0].url}/openapi/full.json`)
  expect(main.info.description).toContain(`${main.externalDocs.url} has all ${operationsOf(full).length}.`)
  // Spectral accepts no reference to another document for a path.
  expect(JSON.stringify(main)).not.toMatch(/"\$ref":"(?!#\/)/)
})

test('no answer has fields that linters read as the example of a schema', async () => {
  const full = await (await fetch(`${till.node.url}/openapi/full.json`)).json()
  const misread: unknown[] = []
  JSON.stringify(full, (name, value) => {
    if (name === 'properties' && value?.schema && (value.example || value.examples)) misread.push(Object.keys(value))
    return value
  })
  expect(misread).toEqual([])
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
