import { afterAll, describe, expect, test } from 'vitest'
import { agentChangedChannel } from '../agents/store.ts'
import { insertPayment, startMs } from '../identity.fixture.ts'
import { account, didOf, openIdentityApp, registry, walletOf } from '../identity-app.fixture.ts'

const open = await openIdentityApp()
afterAll(() => open.db.close())

describe('resolving', () => {
  test('a wallet that was never seen resolves, with keys on both chains and a rating of null', async () => {
    const did = didOf('unseen')
    const seen = await open.resolve(did)
    expect(seen.status).toBe(200)
    const { didDocument, didResolutionMetadata, didDocumentMetadata } = seen.json
    expect(didResolutionMetadata.contentType).toBe('application/did')
    expect(didDocumentMetadata).toMatchObject({ canonicalId: did, versionId: '0' })
    expect(didDocument).toMatchObject({ id: did, creditRating: null, capabilities: [], paymentAuthorizations: [] })
    const { address } = account('unseen')
    expect(didDocument.verificationMethod).toEqual([
      {
        id: `${did}#blockchainAccountId`,
        type: 'EcdsaSecp256k1RecoveryMethod2020',
        controller: did,
        blockchainAccountId: `eip155:8453:${address}`,
      },
      {
        id: `${did}#eip155-137`,
        type: 'EcdsaSecp256k1RecoveryMethod2020',
        controller: did,
        blockchainAccountId: `eip155:137:${address}`,
      },
    ])
    expect(didDocument.authentication).toEqual([`${did}#blockchainAccountId`, `${did}#eip155-137`])
    expect(didDocument.assertionMethod).toEqual(didDocument.authentication)
    // It declared nothing, so nobody is its endpoint.
    expect(didDocument.service).toEqual([])
  })

  test('the document names the DID exactly as it was asked for; the canonical form is in the metadata', async () => {
    const mixed = `did:x402:${account('mixed').address}`
    const { json } = await open.resolve(mixed)
    expect(json.didDocument.id).toBe(mixed)
    expect(json.didDocumentMetadata).toMatchObject({ canonicalId: didOf('mixed'), equivalentId: [didOf('mixed')] })
  })

  test('did:pkh is an account of its one chain', async () => {
    const { address } = account('pkh')
    const did = `did:pkh:eip155:10:${address.toLowerCase()}`
    const { json, status } = await open.resolve(did)
    expect(status).toBe(200)
    expect(json.didDocument.verificationMethod).toHaveLength(1)
    expect(json.didDocument.verificationMethod[0].blockchainAccountId).toBe(`eip155:10:${address}`)
    expect(json.didDocument.alsoKnownAs).toEqual([didOf('pkh')])
  })

  test('did:web of this node has its signing key; known nodes of the mesh resolve, others do not', async () => {
    const own = await open.resolve('did:web:node.test%3A4020')
    expect(own.json.didDocument.verificationMethod[0].publicKeyJwk.x).toBe(open.deps.keyring.active().x)
    expect((await open.resolve(encodeURIComponent('did:web:node.test%3A4020'))).json.didDocument).toEqual(
      own.json.didDocument,
    )
    const lower = (await open.resolve('did:web:node.test%3a4020')).json.didDocument
    expect(lower.id).toBe('did:web:node.test%3a4020')
    for (const id of [...lower.verificationMethod, ...lower.service].map((one: { id: string }) => one.id))
      expect(id.startsWith(`${lower.id}#`), id).toBe(true)
    expect(lower.authentication[0].startsWith(`${lower.id}#`)).toBe(true)
    const known = await open.resolve('did:web:peer.test')
    expect(known.json.didDocument.verificationMethod[0].id).toBe('did:web:peer.test#k1')
    expect((await open.resolve('did:web:stranger.test')).status).toBe(404)
  })

  test.each([
    ['/v1/did/resolve/', undefined, 'application/json'],
    ['/1.0/identifiers/', undefined, 'application/did-resolution'],
    ['/v1/did/resolve/', 'application/did-resolution', 'application/did-resolution'],
    [
      '/1.0/identifiers/',
      'application/ld+json;profile="https://w3id.org/did-resolution"',
      'application/ld+json;profile="https://w3id.org/did-resolution"',
    ],
  ])('%s with Accept %s gives a resolution result', async (base, accept, type) => {
    const seen = await open.resolve(didOf('accept'), accept, base)
    expect(seen.headers.get('content-type')).toBe(type)
    expect(seen.json.didDocument.id).toBe(didOf('accept'))
  })

  test.each(['application/did', 'application/did+json', 'application/did+ld+json'])(
    'Accept %s gives the bare document',
    async (accept) => {
      const seen = await open.resolve(didOf('accept'), accept, '/1.0/identifiers/')
      expect(seen.headers.get('content-type')).toBe(accept)
      expect(seen.json.id).toBe(didOf('accept'))
    },
  )

  test('a form that no DID document has is 406', async () => {
    expect((await open.resolve(didOf('accept'), 'image/png')).status).toBe(406)
  })

  test.each([
    ['notadid', 400, 'INVALID_DID', 'invalidDid'],
    ['did:x402:0x12', 400, 'INVALID_DID', 'invalidDid'],
    [`did:x402:${'0'.repeat(600)}`, 400, 'INVALID_DID', 'invalidDid'],
    ['did:example:123', 501, 'METHOD_NOT_SUPPORTED', 'methodNotSupported'],
    ['did:web:nobody.test', 404, 'NOT_FOUND', 'notFound'],
    ['did:web:node.test%3A4020?versionId=1', 501, 'FEATURE_NOT_SUPPORTED', 'featureNotSupported'],
    ['did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23?nonsense=1', 400, 'INVALID_OPTIONS', 'invalidOptions'],
    ['did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23?versionId=x', 400, 'INVALID_OPTIONS', 'invalidOptions'],
    ['did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23?versionId=9', 404, 'NOT_FOUND', 'notFound'],
  ])('%s is answered %i %s in each form', async (did, status, code, word) => {
    const type = `https://www.w3.org/ns/did#${code}`
    const result = await open.resolve(did, 'application/did-resolution')
    expect(result.status).toBe(status)
    expect(result.json).toMatchObject({
      didDocument: null,
      didDocumentMetadata: {},
      didResolutionMetadata: { error: { type, status } },
    })
    const document = await open.resolve(did, 'application/did')
    expect(document.status).toBe(status)
    expect(document.headers.get('content-type')).toBe('application/problem+json')
    expect(document.json.type).toBe(type)
    const older = await open.resolve(did, 'application/ld+json')
    expect(older.json.didResolutionMetadata.error).toBe(word)
  })

  test('a DID URL gives the part it names', async () => {
    const did = didOf('parts')
    const services = [
      { type: 'x402', url: 'https://agent.example/.well-known/x402' },
      { type: 'agent_card', url: 'https://agent.example/card.json' },
    ]
    await open.declare('parts', [{ id: 'a.b' }], { services })
    const accept = 'application/did-url-dereferencing'
    const key = await open.resolve(encodeURIComponent(`${did}#blockchainAccountId`), accept)
    expect(key.json).toMatchObject({
      content: { id: `${did}#blockchainAccountId`, type: 'EcdsaSecp256k1RecoveryMethod2020' },
      dereferencingMetadata: { contentType: 'application/did' },
    })
    const service = await open.resolve(`${did}?service=x402`, accept)
    expect(service.json.content.service.map((one: { type: string }) => one.type)).toEqual(['X402Endpoint'])
    expect((await open.resolve(`${did}?serviceType=AgentCard`, 'application/did')).json.service).toHaveLength(1)
    expect((await open.resolve(encodeURIComponent(`${did}#nothing`), accept)).status).toBe(404)
    expect((await open.resolve(encodeURIComponent(`${did}#%ff`), accept)).status).toBe(404)
    const relation = encodeURIComponent(`${did}#blockchainAccountId`)
    expect((await open.resolve(`${relation}?verificationRelationship=authentication`, accept)).status).toBe(200)
    expect((await open.resolve(`${relation}?verificationRelationship=keyAgreement`, accept)).status).toBe(404)
    expect((await open.resolve(relation, 'application/did-resolution')).status).toBe(400)
  })

  test('a rating is shown with its evidence, and is signed for the DID', async () => {
    await insertPayment(open.db.database, {
      id: 'rated',
      payer: walletOf('rated'),
      atMs: startMs,
    })
    const { creditRating } = (await open.resolve(didOf('rated'))).json.didDocument
    expect(creditRating).toMatchObject({
      subject: didOf('rated'),
      issuer: open.deps.issuer,
      method: 'assay-credit-1.0',
    })
    const { jws, ...claims } = creditRating
    expect(JSON.parse(Buffer.from(jws, 'base64url').toString())).toEqual(claims)
  })

  test('payment authorizations are shown', async () => {
    const { json } = await open.resolve(didOf('mandated'))
    expect(json.didDocument.paymentAuthorizations).toEqual([{ id: 'mnd_1' }])
  })
})

test.each([
  'did:web:node.test%3A4020',
  'did:x402:0x12',
  encodeURIComponent(`${'did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'}#key`),
])('%s names no agent', async (did) => {
  expect((await open.ask(`/v1/agents/${did}`)).json.code).toBe('did_invalid')
})

test('the registration file of the node names its registration where the chain has a registry', async () => {
  const { json } = await open.ask('/.well-known/agent-registration.json')
  expect(json).toMatchObject({
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    x402Support: true,
    registrations: [{ agentId: 7, agentRegistry: `eip155:8453:${registry}` }],
  })
})

test('a cache of documents about a wallet is notified when an authorization is added or removed, and not of draws', async () => {
  const notified: string[] = []
  const stop = await open.db.database.listen(agentChangedChannel, (wallet) => notified.push(wallet))
  try {
    const owner = walletOf('gives a mandate')
    await open.db.database.query(
      `insert into mandate (id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro, valid_until, nonce, signature, created_at)
       values ($1, $2, $3, 8453, 'key', '{*}', 1, 1, 1, now() + interval '1 day', $4, '\\x00', now())`,
      [`mdt_${'a'.repeat(40)}`, owner, walletOf('delegate'), Buffer.alloc(32)],
    )
    await expect.poll(() => notified).toEqual([owner])
    await open.db.database.query('update mandate set total_micro = 1 where owner = $1', [owner])
    await open.db.database.query('update mandate set revoked_at = now() where owner = $1', [owner])
    await expect.poll(() => notified).toEqual([owner, owner])
  } finally {
    await stop()
  }
})
