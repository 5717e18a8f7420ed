import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { roles } from '../packages/node/src/shops/tokens/abi/b20.ts'
import { createActor } from '../packages/node/src/shops/tokens/issuer.fixture.ts'
import { checksumAddress } from '../packages/protocol/src/address.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const got: Record<string, unknown>[] = []
const hook = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    got.push(JSON.parse(body))
    response.end(body)
  })
})
await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
afterAll(() => hook.close())

const till = useTill({
  ownShops: ['account', 'sandbox', 'notifications', 'tokens'],
  env: { DEMO_HOSTS: `hook.test=127.0.0.1:${(hook.address() as AddressInfo).port}` },
})
const account = privateKeyToAccount(`0x${'5'.repeat(64)}`)

const get = async <T>(path: string) => (await (await fetch(`${till.node.url}${path}`)).json()) as { data: T[] }

async function signed(path: string, body?: object) {
  const init =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(await signRequest(`${till.node.url}${path}`, init, { account }))
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}

test('a wallet watches a token and is notified of a change of control with both verdicts; the feed and the list agree', async () => {
  const issuer = await createActor(till.base)
  const token = checksumAddress(await issuer.create('watched'))
  const listed = async () => {
    const { data } = await get<{ address: string; verdict: string | null }>('/v1/tokens?limit=100')
    return data.find(({ address }) => address === token)?.verdict === 'ISSUER_CONTROLLED'
  }
  await until('the token is listed', listed)
  const added = await signed('/v1/notifications/endpoints', { kind: 'webhook', target: 'http://hook.test/in' })
  expect(added.status, JSON.stringify(added.body)).toBe(200)
  const subject = token
  const watch = { endpoint: added.body['endpoint'], topic: 'token.control', subject }
  const watching = await signed('/v1/notifications/watches', watch)
  expect(watching.status, JSON.stringify(watching.body)).toBe(200)
  expect((await signed('/v1/notifications/watches', { ...watch, subject: till.base.usdc })).status).toBe(400)
  await until('the endpoint is proven', async () => {
    const { body } = await signed('/v1/notifications')
    return (body['endpoints'] as unknown as { state: string }[])[0]?.state === 'active'
  })
  await issuer.call(token, 'grantRole', roles.MINT_ROLE, issuer.address)
  await issuer.call(token, 'renounceLastAdmin')
  const changes = () => got.filter(({ type }) => type === 'assay.token.control').map(({ data }) => data)
  const delivered = await until('the change is delivered', async () => {
    const last = changes().find((data) => (data as { kind: string }).kind === 'last_admin_renounced')
    return last as Record<string, unknown> | undefined
  })
  expect(delivered).toMatchObject({ token, verdict_after: 'PARTIALLY_CONTROLLED' })
  // A verdict is of the block that it names: it may show with the change just before, where both came before it was read.
  await expect
    .poll(changes)
    .toContainEqual(
      expect.objectContaining({ verdict_before: 'ISSUER_CONTROLLED', verdict_after: 'PARTIALLY_CONTROLLED' }),
    )
  expect(String(delivered['transaction'])).toMatch(/^0x[0-9a-f]{64}$/)
  const list = await get<{ kind: string }>(`/v1/tokens/changes?token=${token}`)
  expect(list.data.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['last_admin_renounced', 'role_granted', 'verdict_changed']),
  )
  const feed = await fetch(String(watching.body['feed_url']))
  expect(feed.headers.get('content-type')).toContain('application/rss+xml')
  expect(await feed.text()).toContain('the last admin, stepped down for good')
  expect((await fetch(`${till.node.url}/v1/notifications/feed/token.control/0x12`)).status).toBe(404)
  expect((await fetch(`${till.node.url}/v1/notifications`)).status).toBe(401)
  const status = JSON.parse((await operator('status', '--json')).stdout())
  expect(status).toMatchObject({
    endpoints: [{ kind: 'webhook', state: 'active', endpoints: '1' }],
    deliveries: [{ kind: 'webhook', waiting: '0', dead_day: '0' }],
    failing: [],
  })
  expect((await operator('status')).stdout()).toContain('webhook')
  const blocked = await operator('block', 'http://hook.test/in', '--reason', 'asked us to stop', '--json')
  expect(JSON.parse(blocked.stdout())).toEqual({ target: 'http://hook.test/in', endpoints: 1 })
  expect((await signed('/v1/notifications/endpoints', { kind: 'webhook', target: 'http://hook.test/in' })).status).toBe(
    409,
  )
  expect((await operator('block', 'http://hook.test/other', '--reason', 'never seen')).stderr()).toContain(
    'no endpoint',
  )
  expect((await operator('retry', '--reason', 'back again')).stdout()).toContain('0 deliveries')
})

async function operator(...args: string[]) {
  const env = {
    DATABASE_URL: till.db.databaseUrl,
    BASE_RPC_URLS: till.base.url,
    POLYGON_RPC_URLS: till.polygon.url,
    USER: 'tester',
  }
  const terminal = createTestTerminal({ env })
  await runCli(['notifications', ...args], terminal)
  return terminal
}
