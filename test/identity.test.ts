import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { openIdentityShop } from '../packages/node/src/shops/identity/index.ts'
import {
  createAssayClient,
  deactivateAgent,
  declareCapabilities,
  didOfWallet,
  readAgent,
  readAgentHistory,
  readDemoNetworks,
  resolveDid,
  revokeCapabilities,
  searchAgents,
  signRequest,
  verifyRating,
} from '../packages/sdk/src/index.ts'
import { echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const key = generatePrivateKey()
const agent = privateKeyToAccount(key)
const did = didOfWallet(agent.address)

const till = useTill({ ownShops: 'till', shops: [openIdentityShop({ didMethod: 'x402' })] })

const reader = () => createAssayClient({ account: agent, networks: [], maxPerCallUsd: '0', baseUrl: till.node.url })

async function assay(...args: string[]) {
  const terminal = createTestTerminal({ env: { ASSAY_KEY: key } })
  const code = await runCli([...args, '--url', till.node.url], terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

test('a buyer gets a rating from what it bought, signed by the node; before there was none', async () => {
  const buyer = await till.newBuyer()
  const buyerDid = didOfWallet(buyer.address)
  const before = await resolveDid(reader(), till.node.url, buyerDid)
  expect(before).toMatchObject({ status: 'resolved', document: { creditRating: null } })
  const client = createAssayClient({
    account: buyer,
    networks: await readDemoNetworks(till.node.url),
    maxPerCallUsd: '1',
    baseUrl: till.node.url,
  })
  for (const n of [1, 2, 3])
    expect((await client.fetch(`${till.node.url}${echoPath}?message=${n}`)).response.status).toBe(200)
  const after = await resolveDid(client, till.node.url, buyerDid)
  if (after.status !== 'resolved' || !after.document.creditRating) throw new Error('it has bought')
  const rating = after.document.creditRating
  expect(rating.evidence).toMatchObject({ settled_payments: 3, independent_payments: 3, failed_settlements: 0 })
  const keys = client.pinnedKeys(till.node.url)
  if (keys === undefined) throw new Error('the client has seen keys')
  const check = (changed = {}, subject = buyerDid) =>
    verifyRating({ ...rating, ...changed }, { keys, nowMs: Date.now(), subject })
  expect((await check()).status).toBe('verified')
  expect((await check({ score: 99 })).status).toBe('invalid')
  expect((await check({}, did)).status).toBe('invalid')
  expect((await verifyRating(rating, { keys, nowMs: Date.now() + 2 * 86_400_000 })).status).toBe('invalid')
})

test('sign-in names the agent as every other place does', async () => {
  const request = await signRequest(
    `${till.node.url}/v1/auth/check`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    { account: agent },
  )
  const answer = await fetch(request)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ did })
})

test('an agent declares, is found, revokes and leaves, with the SDK', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const own = didOfWallet(account.address)
  const [client, node] = [reader(), till.node.url]
  const declared = await declareCapabilities(client, node, own, { capabilities: [{ id: 'sdk.test' }] }, { account })
  expect(declared).toMatchObject({ did: own, version: 1 })
  expect((await searchAgents(client, node, { capability: 'sdk', limit: 5 })).data.map((one) => one.did)).toEqual([own])
  const polygon = { account, chainId: 137 }
  expect((await revokeCapabilities(client, node, own, polygon)).capabilities).toEqual([])
  expect((await readAgentHistory(client, node, own)).data.map((one) => one.version)).toEqual([2, 1])
  await deactivateAgent(client, node, own, { account })
  expect((await resolveDid(client, node, own)).status).toBe('deactivated')
  await expect(readAgent(client, node, own)).rejects.toThrow(/deactivated/)
})

test('the command line resolves, declares, shows and searches', async () => {
  const declared = await assay('agent', 'capabilities', 'weather.now', 'weather.past', '--name', 'Weather', '--json')
  expect(declared.err).toBe('')
  expect(JSON.parse(declared.out)).toMatchObject({ did, version: 1, name: 'Weather' })
  expect((await assay('agent', 'capabilities', '--did', did)).out).toContain('weather.past')
  expect((await assay('agent', 'search', 'weather')).out).toContain(did)
  expect((await assay('agent', 'search', 'nobody.does')).out).toBe('no such agent is known\n')
  const resolved = await assay('did', 'resolve', did)
  expect(resolved.code).toBe(0)
  expect(resolved.out).toContain('rating    none')
  expect(resolved.out).toContain(`eip155:8453:${agent.address}`)
  expect(JSON.parse((await assay('did', 'resolve', did, '--version-id', '1', '--json')).out).metadata.versionId).toBe(
    '1',
  )
  expect((await assay('did', 'resolve', 'did:example:1')).code).toBe(1)
  const own = `did:web:${new URL(till.node.url).host.replace(':', '%3A')}`
  expect((await assay('did', 'resolve', own)).out).toContain('/.well-known/agent-card.json')
  expect(JSON.parse((await assay('agent', 'capabilities', '--revoke', '--json')).out).capabilities).toEqual([])
})

test('the well-known documents of the node agree with each other', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  const read = async (path: string): Promise<any> => (await fetch(`${till.node.url}${path}`)).json()
  const [document, card, registration] = await Promise.all([
    read('/.well-known/did.json'),
    read('/.well-known/agent-card.json'),
    read('/.well-known/agent-registration.json'),
  ])
  const own = `did:web:${new URL(till.node.url).host.replace(':', '%3A')}`
  const resolved = (await resolveDid(reader(), till.node.url, own)) as { document: unknown }
  expect(resolved.document).toEqual(document)
  expect(card.version).toBe('1.0.0')
  expect(card.supportedInterfaces[0]).toMatchObject({ url: till.node.url, protocolBinding: 'urn:x402:http:2' })
  expect(card.skills.length).toBeGreaterThan(0)
  expect(card.signatures[0].protected).toMatch(/^[A-Za-z0-9_-]+$/)
  // The chain of a demo node has no registry, whatever address is configured.
  expect(registration).toMatchObject({ x402Support: true, registrations: [] })
  expect(registration.services).toContainEqual({ name: 'DID', endpoint: own, version: 'v1' })
})
