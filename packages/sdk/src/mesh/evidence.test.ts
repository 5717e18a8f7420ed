import { type SignedEvidence, verifyMeshEvidence } from '@assay/protocol/mesh/evidence'
import {
  listingOf,
  type PlayedPeer,
  type PlayedPeerOptions,
  playPeer,
  playWorld,
} from '@assay/protocol/mesh/hostile-peer.fixture'
import { openStatement } from '@assay/protocol/mesh/statement'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { buyFrom } from './buy-from.ts'
import { type DiscoverOptions, discover } from './discover.ts'
import { signEvidence } from './report.ts'

const nowMs = 1_800_000_000_000
const capability = 'token.control.report'
const home = 'https://home.example.org'
const account = privateKeyToAccount(generatePrivateKey())
const networks = [
  { network: 'eip155:8453', chainId: 8453, usdc: `0x${'1'.repeat(40)}`, name: 'USDC', version: '2' },
] as never
const play = (address: string, options: PlayedPeerOptions = {}) => playPeer(address, { nowMs: () => nowMs, ...options })

function openWorld(...nodes: PlayedPeer[]) {
  const world = playWorld(...nodes)
  const platform = { nowMs: () => nowMs, fetch: world.fetch }
  const find = (options: Partial<DiscoverOptions> = {}) => discover(capability, { nodes: [home], platform, ...options })
  return { world, platform, find }
}

const given = (peer: PlayedPeer): SignedEvidence[] =>
  peer.asked
    .filter(({ method, path }) => method === 'POST' && path === '/x402/mesh/evidence')
    .map(({ body }) => JSON.parse(body))

/** As a node that knows the peer checks it. */
async function verified(peer: PlayedPeer, evidence: unknown) {
  const current = openStatement(peer.statement())
  if (current === undefined) throw new Error('no statement')
  const { keys } = peer.directory() as { keys: { kid: string; x: string; nbf: number }[] }
  return verifyMeshEvidence(evidence, { address: peer.address, current, keys, nowMs })
}

test('a price that no signature of the node carries is not taken', async () => {
  const entry = play(home)
  const silent = play('https://silent.example.net', { priceMicro: '1' })
  silent.signs402 = false
  entry.listed = [listingOf(silent)]
  const { best, rejected } = await openWorld(entry, silent).find()
  expect(best?.address).toBe(home)
  expect(rejected).toContainEqual({ address: silent.address, reason: expect.stringContaining('not signed') })
})

test('a node that asks buyers another price than it states is reported, in a form that anybody can verify', async () => {
  const entry = play(home)
  const liar = play('https://liar.example.net', { priceMicro: '1' })
  liar.asksMicro = () => '90000'
  entry.listed = [listingOf(liar)]
  const { find } = openWorld(entry, liar)
  expect((await find()).best?.address).toBe(home)
  expect(given(entry)).toEqual([])
  await find({ reporter: account })
  const [evidence] = given(entry)
  expect(await verified(liar, evidence)).toMatchObject({
    ok: true,
    kind: 'price',
    statedMicro: 1n,
    askedMicro: 90_000n,
  })
  // Nobody can make it up: neither another amount, nor another reporter, nor the 402 of an honest node.
  const wrong = { ...evidence, reporter: `0x${'a'.repeat(40)}` }
  expect(await verified(liar, wrong)).toMatchObject({ ok: false })
  const honest = await signEvidence(
    account,
    { ...(evidence as never as object), type: 'x402-mesh-price', statement: liar.statement({ offers: [] }) } as never,
    { nowMs: () => nowMs },
  )
  expect(await verified(liar, { ...honest, signature: honest.signature })).toMatchObject({ ok: false })
})

test('a purchase reaches the origin that was found, and no other, under the keys it was found with', async () => {
  const entry = play(home, { priceMicro: '50000' })
  const seller = play('https://seller.example.net')
  entry.listed = [listingOf(seller)]
  const { world, platform, find } = openWorld(entry, seller)
  const { best } = await find()
  if (best?.address !== seller.address) throw new Error('not found')
  const input = { params: { address: '0x1' } }
  world.reached.length = 0
  // A name that leads inside since it was found.
  const inside = async () => ['10.0.0.1']
  await expect(buyFrom(best, { account, networks, platform, resolve: inside }, input)).rejects.toMatchObject({
    code: 'host_not_allowed',
  })
  expect(world.reached).toEqual([])
  // Another node at that address: its keys are not those that were found.
  const other = play(seller.address)
  const swapped = { ...platform, fetch: playWorld(entry, other).fetch }
  await expect(buyFrom(best, { account, networks, platform: swapped }, input)).rejects.toMatchObject({
    code: expect.stringMatching(/key_not_trusted|signature/),
  })
  expect(other.asked.every(({ method }) => method === 'GET')).toBe(true)
  // More than was found is not paid, and with `report` the node that named the seller hears of it.
  seller.asksMicro = () => '90000'
  await expect(buyFrom(best, { account, networks, platform, report: true }, input)).rejects.toThrow()
  const [evidence] = given(entry)
  expect(await verified(seller, evidence)).toMatchObject({ ok: true, kind: 'price', askedMicro: 90_000n })
})

test('paid calls of independent payers put a node first, forged ones and those of one payer do not', async () => {
  const entry = play(home, { priceMicro: '90000' })
  const known = play('https://known.example.org', { priceMicro: '15000' })
  const cheap = play('https://cheap.example.net', { priceMicro: '10000' })
  entry.listed = [listingOf(known), listingOf(cheap)]
  const bought = async (seller: PlayedPeer, payer = privateKeyToAccount(generatePrivateKey())) => {
    const unsigned = {
      ...{ type: 'x402-mesh-purchase', node: seller.did, capability, method: 'GET' },
      ...{ receipt: seller.receipt(payer.address, '/v1/report/0x1'), stated_micro: '1', paid_micro: '1' },
      ...{ latency_ms: 5, outcome: 'ok' },
    }
    return { evidence: await signEvidence(payer, unsigned as never, { nowMs: () => nowMs }), group: payer.address }
  }
  const honest = await Promise.all(Array.from({ length: 6 }, () => bought(known)))
  const one = privateKeyToAccount(generatePrivateKey())
  const own = await Promise.all(Array.from({ length: 6 }, () => bought(cheap, one)))
  const forged = honest.map(({ evidence }) => ({ evidence: { ...evidence, node: cheap.did }, group: 'x' }))
  const { find } = openWorld(entry, known, cheap)
  expect((await find()).best?.address).toBe(cheap.address)
  entry.evidence = [...honest, ...own, ...forged]
  const { best, found } = await find()
  expect(best?.address).toBe(known.address)
  expect(best?.why).toContain('6 paid calls by 6 independent payers')
  expect(found.find(({ address }) => address === cheap.address)?.evidence).toMatchObject({ payers: 1, calls: 1 })
})

test('nodes that were asked and do not say the same are named, and most of them decide on health', async () => {
  const entry = play(home, { priceMicro: '50000' })
  const second = play('https://second.example.org', { priceMicro: '50000' })
  const third = play('https://third.example.org', { priceMicro: '50000' })
  const doubtful = play('https://doubtful.example.net', { priceMicro: '1' })
  const older = doubtful.statement()
  doubtful.sequence += 1
  const [offer] = doubtful.content.offers
  if (offer === undefined) throw new Error('no offer')
  doubtful.content = { ...doubtful.content, offers: [{ ...offer, price_micro_max: '5' }] }
  entry.listed = [listingOf(second), listingOf(third), listingOf(doubtful, { statement: older, health: 1 })]
  second.listed = [listingOf(doubtful, { health: 0.1, recommended: false })]
  third.listed = [listingOf(doubtful, { health: 0.2, recommended: false })]
  const { found, rejected, disagreements } = await openWorld(entry, second, third, doubtful).find()
  expect(disagreements.filter(({ address }) => address === doubtful.address).map(({ about }) => about)).toEqual([
    'price',
    'health',
  ])
  expect(found.map(({ address }) => address)).not.toContain(doubtful.address)
  expect(rejected.find(({ address }) => address === doubtful.address)?.reason).toContain('most nodes')
})
