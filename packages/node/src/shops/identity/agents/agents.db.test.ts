import { afterAll, describe, expect, test } from 'vitest'
import { send } from '../../../http/http-app.fixture.ts'
import { insertPayment, signedHeaders, startMs } from '../identity.fixture.ts'
import {
  account,
  appFor,
  didOf,
  host,
  nextNonce,
  openIdentityApp,
  registry,
  walletOf,
} from '../identity-app.fixture.ts'
import { aggregateAndScore } from '../open-shop.ts'
import { aggregateLagMs } from '../rating/aggregate-ratings.ts'
import { expireVersions, keptAfterReplacedMs } from './expire-versions.ts'
import { appendVersion, versionsPerDayMax } from './store.ts'
import { agentWriteRoutes } from './write-routes.ts'

const open = await openIdentityApp()
afterAll(() => open.db.close())

describe('capabilities', () => {
  const search = { id: 'citation.search', name: 'Finds sources' }

  test('are declared, shown at once, versioned, revoked, and their history stays', async () => {
    const did = didOf('declares')
    await open.resolve(did)
    const first = await open.declare('declares', [search], {
      name: 'Searcher',
      services: [{ type: 'mcp', url: 'https://agent.test/mcp' }],
    })
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ did, version: 1, name: 'Searcher', capabilities: [search] })
    const { didDocument, didDocumentMetadata } = (await open.resolve(did)).json
    expect(didDocument.capabilities).toEqual([search])
    expect(didDocument.service.find((one: { id: string }) => one.id === `${did}#mcp`).serviceEndpoint).toBe(
      'https://agent.test/mcp',
    )
    expect(didDocumentMetadata.versionId).toBe('1')
    await open.declare('declares', [{ id: 'other' }])
    const past = await open.resolve(`${did}?versionId=1`)
    expect(past.json.didDocument.capabilities).toEqual([search])
    expect(past.json.didDocument).not.toHaveProperty('creditRating')
    expect(past.json.didDocumentMetadata).toMatchObject({ versionId: '1', nextVersionId: '2' })
    const revoked = await open.write({ as: 'declares', method: 'DELETE', target: `/v1/agents/${did}/capabilities` })
    expect(revoked.json).toMatchObject({ version: 3, capabilities: [], name: null })
    const history = await open.ask(`/v1/agents/${did}/capabilities?limit=2`)
    expect(history.json.data.map((one: { version: number }) => one.version)).toEqual([3, 2])
    const rest = await open.ask(`/v1/agents/${did}/capabilities?cursor=${history.json.next_cursor}`)
    expect(rest.json.data).toHaveLength(1)
    expect(rest.json.data[0].signer).toBe(`eip155:8453:${account('declares').address.toLowerCase()}`)
  })

  test('two writers that build on the same version do not both win', async () => {
    await open.declare('races', [search])
    const second = await open.declare('races', [], { expected_version: 1 })
    const third = await open.declare('races', [search], { expected_version: 1 })
    expect([second.status, third.status]).toEqual([200, 409])
    expect(third.json.code).toBe('agent_version_conflict')
    const many = await Promise.all(Array.from({ length: 6 }, () => open.declare('races', [search])))
    expect(many.map((one) => one.json.version).sort()).toEqual([3, 4, 5, 6, 7, 8])
  })

  test.each([
    ['a capability with blanks', { capabilities: [{ id: 'not a name' }] }],
    ['the same capability twice', { capabilities: [search, search] }],
    ['an unknown field', { capabilities: [], extra: 1 }],
    ['a service that is no web address', { capabilities: [], services: [{ type: 'mcp', url: 'javascript:alert(1)' }] }],
    ['too many', { capabilities: Array.from({ length: 65 }, (_, index) => ({ id: `c${index}` })) }],
    ['text that steers a terminal', { capabilities: [], name: 'a\u001b[31m' }],
  ])('%s is refused', async (_what, body) => {
    const seen = await open.write({ as: 'refused', target: `/v1/agents/${didOf('refused')}/capabilities`, body })
    expect([seen.status, seen.json.code]).toEqual([400, 'input_invalid'])
  })

  test('a registration on chain is shown only while the registry names the wallet', async () => {
    const did = didOf('registered')
    const claim = { erc8004: { network: 'eip155:8453', agent_id: '42' } }
    expect((await open.declare('registered', [search], claim)).json.code).toBe('registration_unproven')
    open.chain.registered = walletOf('registered')
    expect((await open.declare('registered', [search], claim)).status).toBe(200)
    const service = async () =>
      (await open.resolve(did)).json.didDocument.service.find(
        (one: { type: string }) => one.type === 'ERC8004Registration',
      )
    expect(await service()).toMatchObject({
      serviceEndpoint: { agentRegistry: `eip155:8453:${registry}`, agentId: '42' },
    })
    open.chain.registered = undefined
    open.deps.moveTo(open.deps.clock.nowMs() + 10_000)
    expect(await service()).toBeUndefined()
  })

  test('agents are found by capability, best rated first, page by page', async () => {
    for (const name of ['s1', 's2', 's3']) await open.declare(name, [{ id: 'weather.now' }])
    await open.declare('s4', [{ id: 'weatherman' }])
    const wallet = walletOf('s2')
    const before = open.deps.clock.nowMs()
    await insertPayment(open.db.database, { id: 's2paid', payer: wallet, atMs: before })
    open.deps.moveTo(before + aggregateLagMs + 1)
    await aggregateAndScore(open.deps)
    const page = await open.ask('/v1/agents?capability=weather&limit=2')
    expect(page.json.data[0]).toMatchObject({ did: didOf('s2'), capabilities: [{ id: 'weather.now' }] })
    expect(page.json.data[0].credit_score).toBeGreaterThan(0)
    const rest = await open.ask(`/v1/agents?capability=weather.now&limit=2&cursor=${page.json.next_cursor}`)
    const found = [...page.json.data, ...rest.json.data].map((one: { did: string }) => one.did)
    expect(found.sort()).toEqual(['s1', 's2', 's3'].map(didOf).sort())
    expect(rest.json.next_cursor).toBeNull()
    expect((await open.ask('/v1/agents?capability=weather&score_min=1')).json.data).toHaveLength(1)
    expect((await open.ask('/v1/agents?capability=nothing')).json.data).toEqual([])
    expect((await open.ask('/v1/agents?cursor=x')).status).toBe(400)
    await open.write({ as: 's1', method: 'DELETE', target: `/v1/agents/${didOf('s1')}/capabilities` })
    expect((await open.ask('/v1/agents?capability=weather')).json.data).toHaveLength(2)
  })

  test('of equals the one that has been here longest comes first, whatever its address', async () => {
    const [low, high] = ['tie1', 'tie2'].sort((a, b) => walletOf(a).localeCompare(walletOf(b))) as [string, string]
    await open.declare(high, [{ id: 'tied' }])
    open.deps.moveTo(open.deps.clock.nowMs() + 1_000)
    await open.declare(low, [{ id: 'tied' }])
    const first = await open.ask('/v1/agents?capability=tied&limit=1')
    expect(first.json.data[0].did).toBe(didOf(high))
    const second = await open.ask(`/v1/agents?capability=tied&limit=1&cursor=${first.json.next_cursor}`)
    expect(second.json.data[0].did).toBe(didOf(low))
  })

  test('one address brings only so many new agents in a day; a wallet that has paid here is not counted', async () => {
    const bring = (name: string, nowMs: number, from = '203.0.113.9') =>
      open.db.database.transaction((tx) =>
        appendVersion(tx, {
          ...{ subject: walletOf(name), wallet: walletOf(name), signer: `eip155:8453:${walletOf(name)}` },
          ...{ declaration: { capabilities: [] }, submittedBy: { name: from, newPerDay: 3 }, nowMs },
        }),
      )
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => bring(`crowd${index}`, startMs + index)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const late = startMs + 1_000
    await expect(bring('crowd6', late)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(await bring('crowd6', late, '203.0.113.10')).toBe(1)
    expect(await bring('crowd6', late + 1)).toBe(2)
    await insertPayment(open.db.database, { id: 'patron', payer: walletOf('patron'), atMs: open.deps.clock.nowMs() })
    open.deps.moveTo(open.deps.clock.nowMs() + aggregateLagMs + 1)
    await aggregateAndScore(open.deps)
    expect(await bring('patron', late)).toBe(1)
    expect(await bring('crowd7', startMs + 86_402_000)).toBe(1)
  })

  test('a version expires long after another one replaced it, and the newest stays', async () => {
    const before = open.deps.clock.nowMs()
    for (const id of ['v1', 'v2', 'v3']) {
      await open.declare('long', [{ id }])
      open.deps.moveTo(open.deps.clock.nowMs() + keptAfterReplacedMs * 0.6)
    }
    const versions = async () =>
      (await open.ask(`/v1/agents/${didOf('long')}/capabilities`)).json.data.map(
        (one: { version: number }) => one.version,
      )
    await expireVersions(open.deps)
    const { rows } = await open.db.owner.query('select distinct submitted_by from agent where created_at < $1', [
      new Date(before + 1),
    ])
    expect(rows, 'where an agent came from is not kept').toEqual([{ submitted_by: null }])
    expect(await versions()).toEqual([3, 2])
    open.deps.moveTo(before + 10 * keptAfterReplacedMs)
    await expireVersions(open.deps)
    expect(await versions()).toEqual([3])
    expect((await open.ask(`/v1/agents/${didOf('long')}`)).json).toMatchObject({ capabilities: [{ id: 'v3' }] })
  })

  test('only so many versions may come in a day', async () => {
    const wallet = walletOf('eager')
    const append = (nowMs: number) =>
      open.db.database.transaction((tx) =>
        appendVersion(tx, {
          ...{ subject: wallet, wallet, submittedBy: { name: '203.0.113.1', newPerDay: 9 } },
          ...{ signer: `eip155:8453:${wallet}`, declaration: { capabilities: [] }, nowMs },
        }),
      )
    for (let index = 0; index < versionsPerDayMax; index += 1) await append(startMs + index)
    await expect(append(startMs + 1_000)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(await append(startMs + 86_400_000)).toBe(versionsPerDayMax + 1)
  })

  test('an agent has its own card', async () => {
    await open.declare('carded', [search], { services: [{ type: 'x402', url: 'https://agent.test' }] })
    const { json } = await open.ask(`/v1/agents/${didOf('carded')}/agent-card.json`)
    expect(json).toMatchObject({
      version: '1',
      supportedInterfaces: [{ url: 'https://agent.test', protocolBinding: 'urn:x402:http:2' }],
      skills: [{ id: 'citation.search', name: 'Finds sources' }],
    })
  })
})

describe('proofs', () => {
  const body = { capabilities: [{ id: 'a' }] }
  const target = (as: string) => `/v1/agents/${didOf(as)}/capabilities`
  const versionOf = async (as: string) => (await open.ask(`/v1/agents/${didOf(as)}`)).json.version

  test('no proof is 401 and says what to sign', async () => {
    const seen = await open.ask(target('bare'), { method: 'PUT', body: JSON.stringify(body) })
    expect([seen.status, seen.json.code]).toEqual([401, 'proof_required'])
    expect(seen.headers.get('accept-signature')).toContain('@authority')
  })

  test('a replayed proof is refused', async () => {
    const sign = { nonce: 'the-same-nonce-twice' }
    expect((await open.write({ as: 'replay', target: target('replay'), body, sign })).status).toBe(200)
    expect((await open.write({ as: 'replay', target: target('replay'), body, sign })).json.code).toBe('proof_invalid')
    expect(await versionOf('replay')).toBe(1)
  })

  test.each([
    ['a stale proof', { createdMs: startMs - 3_600_000 }],
    ['a proof from the future', { createdMs: startMs + 365 * 86_400_000 }],
    ['a proof that would last an hour', { expiresInSeconds: 3_600 }],
    ['a proof for another route', { target: '/v1/subscriptions/rotate' }],
    ['a proof for another agent', { target: target('somebody') }],
    ['a proof for another method', { method: 'DELETE' }],
    ['a proof for another host', { host: 'other.test' }],
    ['a proof for another body', { body: JSON.stringify({ capabilities: [] }) }],
    ['a proof of a chain that is not taken here', { chainId: 1 }],
  ])('%s is refused', async (_what, sign) => {
    const seen = await open.write({ as: 'altered', target: target('altered'), body, sign })
    expect([seen.status, seen.json.code]).toEqual([401, 'proof_invalid'])
    expect(await versionOf('altered')).toBe(0)
  })

  test('a request sent to another host than the node is refused before its proof is checked', async () => {
    const seen = await open.write({
      as: 'altered',
      target: target('altered'),
      body,
      host: 'other.test',
      sign: { host: 'other.test' },
    })
    expect(seen.status).toBe(421)
  })

  test('the proof of another wallet is refused', async () => {
    const seen = await open.write({ as: 'stranger', target: target('victim'), body })
    expect([seen.status, seen.json.code]).toEqual([403, 'forbidden'])
  })

  test('a proof on either chain speaks for a plain wallet, also under its did:pkh', async () => {
    const wallet = account('both').address.toLowerCase()
    const path = `/v1/agents/did:pkh:eip155:8453:${wallet}/capabilities`
    expect((await open.write({ as: 'both', target: path, body, sign: { chainId: 137 } })).status).toBe(200)
    expect(await versionOf('both')).toBe(1)
  })

  test('a contract wallet speaks for its own chain alone', async () => {
    const wallet = account('contract').address.toLowerCase()
    const proofs = { ...open.deps.proofs, checkContractSignature: async () => 'valid' as const }
    const contractApp = appFor(open.deps, agentWriteRoutes({ ...open.deps, proofs, evict: () => {} }))
    const attempt = async (did: string) => {
      const path = `/v1/agents/${did}/capabilities`
      const text = JSON.stringify(body)
      const headers = await signedHeaders(
        { address: wallet, signMessage: async ({ message }) => account('owner').signMessage({ message }) },
        { method: 'PUT', target: path, body: text, createdMs: open.deps.clock.nowMs(), nonce: nextNonce() },
      )
      return send(contractApp, { method: 'PUT', target: path, host, body: text, headers })
    }
    expect((await attempt(`did:x402:${wallet}`)).status).toBe(403)
    expect((await attempt(`did:pkh:eip155:137:${wallet}`)).status).toBe(403)
    expect((await attempt(`did:pkh:eip155:8453:${wallet}`)).status).toBe(200)
    expect((await open.resolve(`did:pkh:eip155:8453:${wallet}`)).json.didDocument.capabilities).toHaveLength(1)
    expect((await open.resolve(`did:pkh:eip155:137:${wallet}`)).json.didDocument.capabilities).toEqual([])
  })
})

describe('deactivation', () => {
  test('is final: 410 in every form, and nothing can be declared again', async () => {
    const did = didOf('leaves')
    await open.declare('leaves', [{ id: 'leaving' }])
    const seen = await open.write({ as: 'leaves', method: 'DELETE', target: `/v1/agents/${did}` })
    expect(seen.json).toMatchObject({ did, deactivated: true })
    const result = await open.resolve(did, 'application/did-resolution')
    expect(result.status).toBe(410)
    expect(result.json).toMatchObject({ didDocument: null, didDocumentMetadata: { deactivated: true } })
    expect((await open.resolve(did, 'application/did')).status).toBe(410)
    expect((await open.ask(`/v1/agents/${did}`)).json.code).toBe('agent_deactivated')
    expect((await open.declare('leaves', [{ id: 'back' }])).json.code).toBe('agent_deactivated')
    expect((await open.ask('/v1/agents?capability=leaving')).json.data).toEqual([])
  })

  test('nobody else can do it', async () => {
    const did = didOf('stays')
    expect((await open.write({ as: 'stranger', method: 'DELETE', target: `/v1/agents/${did}` })).status).toBe(403)
    expect((await open.resolve(did)).status).toBe(200)
  })
})
