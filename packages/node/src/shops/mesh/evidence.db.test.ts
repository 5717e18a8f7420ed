import { evidenceMessage, type MeshEvidence } from '@assay/protocol/mesh/evidence'
import { type PlayedPeer, playPeer, reportOf } from '@assay/protocol/mesh/hostile-peer.fixture'
import { openStatement } from '@assay/protocol/mesh/statement'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, test } from 'vitest'
import { admitSeen } from './admit-seen.ts'
import type { MeshDeps } from './deps.ts'
import { knownPayers, paidCalls } from './evidence-store.ts'
import { emptyMesh, type FakeWorld, type movableClock } from './mesh.fixture.ts'
import { createMeshViews } from './mesh-view.ts'
import { createRounds } from './run-round.ts'
import { searchMesh } from './search-mesh.ts'
import { addSeed } from './seed-store.ts'
import { findPeer, placedPeers } from './store.ts'
import { takeEvidence } from './take-evidence.ts'
import { weighPeers } from './weigh-peers.ts'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps } = await emptyMesh(db))
})

const capability = 'token.control.report'
const play = (name: string, priceMicro = '20000', offer: Parameters<typeof reportOf>[1] = {}) =>
  playPeer(`https://api.${name}.example`, { nowMs: clock.nowMs, priceMicro, offers: [reportOf(priceMicro, offer)] })
const newPayer = () => privateKeyToAccount(generatePrivateKey())
type Payer = ReturnType<typeof newPayer>

async function join(...peers: PlayedPeer[]): Promise<void> {
  for (const [place, peer] of peers.entries()) {
    world.play(`198.51.${place}.1`, peer)
    await addSeed(db.database, peer.address, clock.nowMs())
  }
  await runOnce()
  // A round checks the prices of one; who was visited in time for the first is a matter of luck.
  for (const _ of peers) await runOnce()
}

async function runOnce(): Promise<void> {
  const rounds = createRounds(deps, createMeshViews(deps))
  await rounds.run()
  await rounds.idle()
  await rounds.stop()
}

const shown = async () => (await createMeshViews(deps).refresh()).peers.map(({ address }) => address)

async function signed(payer: Payer, reported: Record<string, unknown>) {
  const reported_at = new Date(clock.nowMs()).toISOString()
  const evidence = { ...reported, reporter: payer.address.toLowerCase(), reported_at } as MeshEvidence
  return { ...evidence, signature: await payer.signMessage({ message: evidenceMessage(evidence) }) }
}

/** What a buyer holds after it was asked a price. */
async function priceSeen(peer: PlayedPeer, payer = newPayer(), statement = peer.statement()) {
  const url = `${peer.address}/v1/report/0x1`
  const response = await peer.respond(new Request(url))
  const headers = Object.fromEntries(response.headers)
  const body = Buffer.from(await response.arrayBuffer()).toString('base64')
  return signed(payer, {
    ...{ type: 'x402-mesh-price', node: peer.did, statement, request: { method: 'GET', url } },
    response: { status: response.status, headers, body },
  })
}

const bought = (peer: PlayedPeer, payer: Payer, change: Record<string, unknown> = {}) =>
  signed(payer, {
    ...{ type: 'x402-mesh-purchase', node: peer.did, capability, method: 'GET', stated_micro: '1', paid_micro: '1' },
    ...{ receipt: peer.receipt(payer.address, '/v1/report/0x5'), latency_ms: 40, outcome: 'ok', ...change },
  })

/** As if these wallets had bought something here before. */
async function paidHere(...payers: Payer[]): Promise<void> {
  deps = { ...deps, relatedParties: async () => new Map() }
  const known = new Set(payers.map(({ address }) => address.toLowerCase()))
  const { database } = deps
  const query: typeof database.query = (...args: Parameters<typeof database.query>) => {
    const [text, values] = args as unknown as [string, unknown[][]]
    if (
      typeof text === 'string' &&
      text.includes('from payment p where p.payer = w.wallet') &&
      !text.includes('agent_bond')
    )
      return Promise.resolve({
        rows: (values[0] as string[]).filter((wallet) => known.has(wallet)).map((wallet) => ({ wallet })),
        rowCount: 0,
      }) as never
    return database.query(...args)
  }
  deps = { ...deps, database: { ...database, query } as typeof database }
}

test('a peer that shows nodes one price and buyers another is dropped on signed evidence, by every node that reads it', async () => {
  const honest = play('honest')
  const liar = play('liar', '1')
  const friend = play('friend')
  await join(honest, liar, friend)
  expect(await shown()).toContain(liar.address)
  liar.asksMicro = () => '90000'
  const evidence = await priceSeen(liar)
  // It comes from another node that was given it.
  friend.evidence = [{ evidence, group: 'anything' }]
  clock.advance(deps.settings.evidenceEveryMs + deps.settings.visitEveryMs)
  await runOnce()
  expect(await shown()).not.toContain(liar.address)
  expect(await shown()).toEqual(expect.arrayContaining([honest.address, friend.address]))
  expect((await searchMesh(deps, { capability })).map(({ address }) => address)).not.toContain(liar.address)
  // A day later it has another chance.
  clock.advance(90_000_000)
  await runOnce()
  clock.advance(deps.settings.visitEveryMs)
  await runOnce()
  expect((await findPeer(db.database, liar.did))?.state).toBe('alive')
})

test('evidence that an honest peer is not guilty of drops nobody', async () => {
  const honest = play('honest')
  const other = play('other')
  await join(honest, other)
  const asked = await priceSeen(honest)
  expect(await takeEvidence(deps, asked)).toEqual({ status: 'refused', reason: 'the 402 asks what was stated' })
  // The 402 of another seller, an unsigned one, a changed amount, another reporter.
  other.asksMicro = () => '90000'
  const foreign = await priceSeen(other)
  const { signature: _, ...content } = {
    ...foreign,
    node: honest.did,
    statement: honest.statement(),
  } as never as Record<string, unknown>
  expect(await takeEvidence(deps, await signed(newPayer(), content))).toMatchObject({ status: 'refused' })
  expect(await takeEvidence(deps, { ...foreign, reporter: `0x${'1'.repeat(40)}` })).toMatchObject({ status: 'refused' })
  other.signs402 = false
  expect(await takeEvidence(deps, await priceSeen(other))).toMatchObject({ status: 'refused' })
  // A new price that was stated at once is no lie, whatever the statement before said.
  const before = honest.statement()
  honest.asksMicro = () => '30000'
  honest.sequence = clock.nowMs() + 1
  honest.content = { ...honest.content, offers: [reportOf('30000')] }
  clock.advance(deps.settings.visitEveryMs)
  await runOnce()
  expect(await takeEvidence(deps, await priceSeen(honest, newPayer(), before))).toEqual({
    status: 'refused',
    reason: 'the node stated this price',
  })
  expect(await takeEvidence(deps, { ...asked, node: 'did:web:nobody.example' })).toEqual({ status: 'unknown_node' })
  expect(await shown()).toEqual(expect.arrayContaining([honest.address, other.address]))
})

test('paid calls rank a peer by independent payers: strangers together count as one', async () => {
  const [trusted, cheap] = [play('trusted', '15000'), play('cheap', '10000')]
  await join(trusted, cheap)
  const search = async () => (await searchMesh(deps, { capability })).map(({ address }) => address)
  expect(await search()).toEqual([cheap.address, trusted.address])
  const payers = Array.from({ length: 5 }, newPayer)
  for (const payer of payers)
    expect(await takeEvidence(deps, await bought(trusted, payer))).toEqual({ status: 'taken' })
  for (let i = 0; i < 20; i += 1) await takeEvidence(deps, await bought(cheap, newPayer()))
  // The same again, of one payer on one day, is not more.
  const [first] = payers
  if (first === undefined) throw new Error('no payer')
  expect(await takeEvidence(deps, await bought(trusted, first, { latency_ms: 41 }))).toEqual({ status: 'known' })
  expect(
    await takeEvidence(deps, await bought(trusted, first, { receipt: cheap.receipt(first.address, '/v1/report/0x5') })),
  ).toMatchObject({ status: 'refused' })
  expect(await paidCalls(db.database, capability, [trusted.did])).toHaveLength(5)
  await paidHere(...payers)
  const [best, next] = await searchMesh(deps, { capability })
  expect(best).toMatchObject({
    address: trusted.address,
    evidence: { payers: 5, calls: 5, disputed: 0, price_kept: 1 },
  })
  expect(best?.why).toContain('5 paid calls by 5 independent payers')
  expect(next).toMatchObject({ address: cheap.address, evidence: { payers: 0, calls: 20 } })
})

test('a search checks price, network and schema', async () => {
  const schema = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'
  const peers = [
    play('cheap', '10000'),
    play('same', '30000', { schema }),
    play('polygon', '5000', { networks: ['eip155:137'] }),
  ]
  await join(...peers)
  const search = async (more: Partial<Parameters<typeof searchMesh>[1]>) =>
    (await searchMesh(deps, { capability, ...more })).map(({ address }) => new URL(address).hostname.split('.')[1])
  expect(await search({})).toEqual(['polygon', 'cheap', 'same'])
  expect(await search({ maxMicro: 10_000n })).toEqual(['polygon', 'cheap'])
  expect(await search({ network: 'eip155:8453' })).toEqual(['cheap', 'same'])
  expect(await search({ schema })).toEqual(['same'])
  expect(await search({ capability: 'no.such' })).toEqual([])
})

test('a bond of its operator keeps the place of a peer among many, for one name alone', async () => {
  deps = { ...deps, settings: { ...deps.settings, peersMax: 8 } }
  const operator = `0x${'5'.repeat(40)}`
  await db.owner.query(
    `insert into agent_bond (id, wallet, network, micro, state, locked_at, locked_until, release_delay_seconds)
     values ('bnd_mesh', $1, 'eip155:8453', 5000000, 'locked', now(), now() + interval '1 day', 60)`,
    [operator],
  )
  const arrive = (peer: PlayedPeer, networkAddress: string, by?: string) =>
    admitSeen(
      deps,
      {
        ...{ did: peer.did, address: peer.address, foundBy: 'announce', sequence: peer.sequence, operator: by },
        ...{ statement: peer.statement(), expiresAtMs: clock.nowMs() + 600_000, keys: [], keysReadAtMs: clock.nowMs() },
        ...{ networkAddress, latencyMs: 1, capabilities: [] },
      },
      clock.nowMs() + 60_000,
    )
  const bonded = play('bonded')
  await arrive(bonded, '203.0.113.1', operator)
  clock.advance(1)
  for (let i = 0; i < 7; i += 1) await arrive(play(`crowd${i}`), '203.0.113.2')
  await arrive(play('second'), '203.0.113.3', operator)
  for (let i = 0; i < 20; i += 1) await arrive(play(`late${i}`), `198.51.${i}.1`)
  const placed = await placedPeers(db.database, deps.registeredSql)
  expect(placed).toHaveLength(8)
  expect(placed.find(({ did }) => did === bonded.did)?.weight).toBeGreaterThan(2)
  expect(placed.filter(({ weight }) => weight > 0)).toHaveLength(1)
  await db.owner.query(
    `update agent_bond set state = 'released', ended_at = now(), release_asked_at = now(), release_at = now() where id = 'bnd_mesh'`,
  )
})

test('a newer statement that another passes on is taken under known keys, without a visit; a forged one is not', async () => {
  const [teller, reported] = [play('teller'), play('reported')]
  await join(teller, reported)
  const visits = () => reported.asked.filter(({ path }) => path.startsWith('/x402/mesh?')).length
  const before = visits()
  const first = await findPeer(db.database, reported.did)
  // As if its next visit were far away.
  await db.owner.query(`update mesh_peer set next_visit_at = now() + interval '100 years' where did = $1`, [
    reported.did,
  ])
  clock.advance(deps.settings.visitEveryMs)
  reported.sequence = clock.nowMs()
  const newer = reported.statement()
  const forger = playPeer(reported.address, { nowMs: clock.nowMs, kid: reported.kid })
  const change = (statement: string) => {
    teller.lie = async (_request, path) => {
      if (!path.startsWith('/x402/mesh?')) return undefined as never
      const entry = { did: reported.did, address: reported.address, sequence: clock.nowMs(), statement }
      const node = { did: teller.did, address: teller.address, statement: teller.statement() }
      return Response.json({ protocol: '1.0.4', node, peers: [], changed: [entry], changed_until: clock.nowMs() })
    }
  }
  change(forger.statement())
  await runOnce()
  expect((await findPeer(db.database, reported.did))?.statement).toBe(first?.statement)
  change(newer)
  clock.advance(deps.settings.visitEveryMs)
  await runOnce()
  const after = await findPeer(db.database, reported.did)
  expect(after?.statement).toBe(newer)
  expect(openStatement(newer)?.sequence).toBe(after?.sequence)
  expect(visits()).toBe(before)
})

test('money that costs its payer nothing gives no weight: charged nothing, credit that can be refunded, not final', async () => {
  const pay = async (change: { micro?: bigint; payee?: string; final?: boolean; route?: string }) => {
    const payer = newPayer().address.toLowerCase()
    await db.owner.query(
      `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
         fingerprint, revocable, owner, lease_until, claimed_at, head_block, ended_at, final)
       values ('exact', $2::bigint, $1::text, 'served', 'eip155:8453', 'eip155:8453/erc20:0xa', $1::text, sha256(convert_to($1::text, 'UTF8')), $1::text, $3, $2::bigint, 0, $4, '', sha256(convert_to($1::text, 'UTF8')), false, 0,
         now(), now(), 1, now(), $5)`,
      [payer, change.micro ?? 3_000_000n, change.payee ?? 'pay_to', change.route ?? 'r', change.final ?? true],
    )
    return payer
  }
  const paid = await pay({})
  const others = [
    await pay({ micro: 0n }),
    await pay({ payee: 'custody', route: 'credit.topup' }),
    await pay({ final: false }),
  ]
  const all = [paid, ...others]
  expect([...(await knownPayers(db.database, all))]).toEqual([paid])
  const peers = all.map((operator) => ({ did: operator, operator, firstSeenAtMs: 1, weight: 0 }))
  const weighed = await weighPeers(db.database, () => 'false', peers)
  expect(weighed.map(({ weight }) => weight)).toEqual([2, 0, 0, 0])
})
