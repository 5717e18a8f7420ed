import { declarationMessage } from '@assay/protocol/mesh/agent-declaration'
import { afterAll, expect, test } from 'vitest'
import { account, didOf, openIdentityApp, walletOf } from '../identity-app.fixture.ts'
import { nodeSubmitter, readDeclarations, takeDeclaration } from './signed-declarations.ts'

const open = await openIdentityApp()
const elsewhere = await openIdentityApp()
afterAll(async () => {
  await open.db.close()
  await elsewhere.db.close()
})

const capabilities = [{ id: 'citation.search' }]
const peer = nodeSubmitter('did:web:peer.test')

async function signed(as: string, change: Record<string, unknown> = {}) {
  const declared = {
    type: 'x402-agent-declaration' as const,
    account: `eip155:8453:${walletOf(as)}`,
    sequence: open.deps.clock.nowMs(),
    declaration: { name: as, capabilities },
    ...change,
  }
  return { ...declared, signature: await account(as).signMessage({ message: declarationMessage(declared) }) }
}

test('a declaration is signed once, given to one node, and found at another that was never asked', async () => {
  const given = await open.ask('/v1/agent-declarations', {
    method: 'POST',
    body: JSON.stringify(await signed('traveller')),
  })
  expect([given.status, given.json]).toEqual([200, expect.objectContaining({ status: 'taken', version: 1 })])
  const { data } = (await open.ask('/v1/agent-declarations?since=0')).json
  expect(data).toHaveLength(1)
  for (const entry of data)
    expect(await takeDeclaration(elsewhere.deps, entry, peer)).toEqual({ status: 'taken', version: 1 })
  const found = (await elsewhere.ask('/v1/agents?capability=citation.search')).json.data
  expect(found).toMatchObject([{ did: didOf('traveller'), name: 'traveller', capabilities }])
  // It travels on from there, and a second time it is known.
  expect((await readDeclarations(elsewhere.deps, 0)).data).toEqual(data)
  expect(await takeDeclaration(elsewhere.deps, data[0], peer)).toMatchObject({ status: 'known' })
})

test('nobody can declare for another, bring back what was replaced, or come from the future', async () => {
  const now = open.deps.clock.nowMs()
  const older = await signed('replaced', { sequence: now - 1 })
  await takeDeclaration(open.deps, await signed('replaced', { declaration: { capabilities: [] } }), peer)
  expect(await takeDeclaration(open.deps, older, peer)).toMatchObject({ status: 'known' })
  const mine = await signed('mine')
  const refused = async (value: unknown) =>
    expect(await takeDeclaration(open.deps, value, peer)).toMatchObject({ status: 'refused' })
  await refused({ ...mine, account: `eip155:8453:${walletOf('victim')}` })
  await refused({ ...mine, declaration: { capabilities: [{ id: 'other' }] } })
  await refused({ ...mine, more: 1 })
  await refused(await signed('mine', { sequence: now + 3_600_000 }))
  await refused(await signed('mine', { sequence: now - 100 * 86_400_000 }))
  await expect(
    takeDeclaration(
      open.deps,
      await signed('mine', { declaration: { capabilities, erc8004: { network: 'eip155:8453', agent_id: '42' } } }),
      peer,
    ),
  ).rejects.toThrow()
})

test('a contract wallet declares through its chain, for that chain alone', async () => {
  const asked: unknown[] = []
  const checkContractSignature = async (question: unknown) => {
    asked.push(question)
    return 'valid' as const
  }
  const deps = { ...open.deps, proofs: { ...open.deps.proofs, checkContractSignature } }
  const declared = {
    ...{ type: 'x402-agent-declaration' as const, account: `eip155:8453:${walletOf('contract')}` },
    ...{ sequence: open.deps.clock.nowMs(), declaration: { capabilities } },
  }
  const signature = await account('owner of the contract').signMessage({ message: declarationMessage(declared) })
  expect(await takeDeclaration(open.deps, { ...declared, signature }, peer)).toMatchObject({ status: 'refused' })
  expect(await takeDeclaration(deps, { ...declared, signature }, peer)).toMatchObject({ status: 'taken' })
  expect(asked).toMatchObject([{ chainId: 8453, address: walletOf('contract') }])
  const at = (chain: number) => open.resolve(`did:pkh:eip155:${chain}:${walletOf('contract')}`)
  expect((await at(8453)).json.didDocument.capabilities).toHaveLength(1)
  expect((await at(137)).json.didDocument.capabilities).toEqual([])
})
