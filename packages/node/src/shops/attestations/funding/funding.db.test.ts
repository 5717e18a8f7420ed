import { type Address, zeroAddress } from '@assay/protocol/address'
import { RpcRefusal } from '@assay/till/chain'
import { playedRpc } from '@assay/till/chain/played-rpc.fixture'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { registerSource } from '../../sources/register/register-source.ts'
import { aggregateCitations, followBonds } from '../../sources/score/aggregate-citations.ts'
import { openSourceWorld } from '../../sources/sources.fixture.ts'
import { createClusters } from './cluster-wallets.ts'
import { defaultFunding, type FundingDeps } from './deps.ts'
import { entropyOf, findCycles, pairKey } from './find-cycles.ts'
import { fundingClusters } from './funding-clusters.ts'
import { servesThePublic } from './probe-hubs.ts'
import { createFundingWork } from './run-funding.ts'

const world = await openSourceWorld()
afterAll(() => world.close())

const day = 86_400_000
let lastAddress = 0
const newWallet = (): Address => {
  lastAddress += 1
  return `0xa${lastAddress.toString(16).padStart(39, '0')}` as Address
}
const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

type Transfer = { from: Address; to: Address; micro: bigint; block: number }

/** A chain that is nothing but its transfers. */
function createTransfers() {
  const transfers: Transfer[] = []
  const state = {
    head: 100,
    down: false,
    asked: 0,
    failsFrom: Number.POSITIVE_INFINITY,
  }
  const rpc = playedRpc(async (_method, [filter]) => {
    state.asked += 1
    if (state.down) throw new Error('no endpoint answers')
    const { fromBlock, toBlock, topics } = filter as { fromBlock: string; toBlock: string; topics: unknown[] }
    if (Number(toBlock) >= state.failsFrom) throw new Error('no endpoint answers')
    if (Number(toBlock) - Number(fromBlock) > 5_000) throw new RpcRefusal(-32005, 'range too large')
    const fits = (topic: unknown, address: Address) =>
      topic === undefined || topic === null || [topic].flat().includes(word(address))
    return transfers
      .filter(({ block }) => block >= Number(fromBlock) && block <= Number(toBlock))
      .filter(({ from, to }) => fits(topics[1], from) && fits(topics[2], to))
      .map(({ from, to, micro, block }) => ({
        topics: [topics[0], word(from), word(to)],
        data: `0x${micro.toString(16)}`,
        blockNumber: `0x${block.toString(16)}`,
      }))
  })
  const send = (from: Address, to: Address, usd: number) => {
    state.head += 1
    transfers.push({ from, to, micro: BigInt(Math.round(usd * 1e6)), block: state.head })
  }
  return { rpc, send, state }
}

function fundingOf(chain: ReturnType<typeof createTransfers>): FundingDeps {
  return {
    ...world.deps,
    chain: {
      network: world.deps.base,
      finalizedBlock: async () => ({ number: BigInt(chain.state.head), hash: '0x', timestamp: 0 }),
    },
    rpc: chain.rpc,
    publicFunders: new Set([zeroAddress]),
    settings: { ...defaultFunding, lookBackBlocks: 50_000n, challengeMs: 7 * day },
  }
}

let lastCitation = 0
/** A citation that was stamped and whose money is final. */
async function cite(agent: Address, creator: Address, domain: string, ageMs = 0): Promise<string> {
  lastCitation += 1
  const id = `att_${lastCitation}`
  const at = new Date(world.deps.clock.nowMs() - ageMs)
  await world.db.database.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, creator, signature, attester, price_micro, created_at)
     values ($1, 'citation', $1, 'eip155:8453', $2, $2, $3, $4, $4, $5, decode(repeat('00', 65), 'hex'), '', 5000, $6)`,
    [id, agent, `https://${domain}/`, domain, creator, at],
  )
  await world.db.database.query(
    `insert into creator_accrual (subject, payment_id, source, payer, network, domain, registrable, wallet, shard, micro, state, created_at)
     values ($1, $1, 'payment', $2, 'eip155:8453', $3, $3, $4, 0, 4500, 'accrued', $5)`,
    [id, agent, domain, creator, at],
  )
  return id
}

async function verdictOf(
  id: string,
): Promise<{ wash: string[]; checked: boolean; held: boolean; reason: string | null }> {
  const { rows } = await world.db.database.query<{
    wash: string[]
    checked: boolean
    held: boolean
    reason: string | null
  }>(
    `select a.wash, a.checked_at is not null as checked, c.held_until > now() + interval '6 days' as held, c.held_reason as reason
     from attestation a join creator_accrual c on c.subject = a.id where a.id = $1`,
    [id],
  )
  const row = rows[0]
  if (!row) throw new Error('no such citation')
  return { ...row, held: row.held ?? false }
}

const counted = { wash: [], checked: true, held: false, reason: null }
const washTraded = { wash: ['same_funding_cluster'], checked: true, held: true, reason: 'same_funding_cluster' }

test('wallets that live on one cluster are one citer; what they cite of its pages is paid later and counts for nothing', async () => {
  const chain = createTransfers()
  const [creator, funder, stranger, ...herd] = Array.from({ length: 23 }, newWallet) as [Address, Address, Address]
  chain.send(zeroAddress, creator, 100)
  chain.send(creator, funder, 50)
  for (const wallet of herd) chain.send(funder, wallet, 1)
  chain.send(zeroAddress, stranger, 100)
  // Dust from a cluster must not pull a stranger into it.
  chain.send(creator, stranger, 0.5)
  const own = await Promise.all(herd.map((wallet, n) => cite(wallet, creator, `own-${n % 7}.com`)))
  const honest = await cite(stranger, creator, 'own-0.com')
  await createFundingWork(fundingOf(chain))()
  for (const id of own) expect(await verdictOf(id)).toEqual(washTraded)
  expect(await verdictOf(honest)).toEqual(counted)
  const clusters = await fundingClusters(world.db.database, [...herd, creator, stranger, funder])
  expect(new Set([...herd, creator].map((wallet) => clusters.get(wallet))).size).toBe(1)
  expect(clusters.get(stranger)).toBe(stranger)
  // Never cited itself, so it is no party: its own name.
  expect(clusters.get(funder)).toBe(funder)
})

test('an exchange in common says nothing, also long after it changed its wallets; a funder far away does', async () => {
  const chain = createTransfers()
  const [exchange, agent, creator] = [newWallet(), newWallet(), newWallet()]
  for (let n = 0; n < 80; n += 1) chain.send(exchange, newWallet(), 5)
  chain.send(exchange, agent, 50)
  chain.send(exchange, creator, 50)
  // It gave nothing to anybody in the hours since.
  chain.state.head += 20_000
  const viaExchange = await cite(agent, creator, 'exchanged.com')
  const work = createFundingWork(fundingOf(chain))
  await work()
  expect(await verdictOf(viaExchange)).toEqual(counted)
  // Five transfers up, split over five wallets on the way; the first of them is farther back than a party is checked.
  chain.state.head = 200_000
  const funder = newWallet()
  const split = Array.from({ length: 5 }, newWallet)
  const [farAgent, ownCreator] = [newWallet(), newWallet()]
  for (const wallet of split) chain.send(funder, wallet, 20)
  chain.state.head += 45_000
  for (const wallet of split) {
    const [one, two, three] = [newWallet(), newWallet(), newWallet()]
    chain.send(wallet, one, 20)
    chain.send(one, two, 20)
    chain.send(two, three, 20)
    chain.send(three, farAgent, 20)
  }
  chain.send(funder, ownCreator, 3)
  chain.state.head += 30_000
  const far = await cite(farAgent, ownCreator, 'far-funder.com')
  // Sent a cent each, strangers do not make an exchange of a funder of many wallets.
  const [loud, herd] = [newWallet(), [newWallet(), newWallet()] as const]
  for (let n = 0; n < 80; n += 1) chain.send(loud, newWallet(), 0.01)
  for (const wallet of herd) chain.send(loud, wallet, 20)
  const viaLoud = await cite(herd[0], herd[1], 'loud.com')
  await work()
  expect(await verdictOf(far)).toEqual(washTraded)
  expect(await verdictOf(viaLoud)).toEqual(washTraded)
  expect(servesThePublic(500, 400)).toBe(false)
  expect(servesThePublic(500, 3)).toBe(true)
  expect(servesThePublic(10, 0)).toBe(false)
})

test('nobody becomes the funder of a wallet by sending it less than a quarter of what it has at stake', async () => {
  const chain = createTransfers()
  const [attacker, one, other] = [newWallet(), newWallet(), newWallet()]
  // Both were filled long ago: all that is seen is what the attacker sends.
  for (const victim of [one, other]) chain.send(attacker, victim, 4)
  await cite(one, newWallet(), 'elsewhere.com')
  const rival = await cite(one, other, 'rival.com')
  await world.db.database.query(
    `insert into citing_agent (agent, cluster, bond_micro, first_seen_at)
     select w, w, 20000000, now() from unnest($1::text[]) w on conflict (agent) do update set bond_micro = 20000000`,
    [[one, other]],
  )
  const deps = { ...fundingOf(chain), bonds: undefined }
  await createFundingWork(deps)()
  expect(await verdictOf(rival)).toEqual(counted)
  chain.send(attacker, one, 2)
  chain.send(attacker, other, 2)
  const own = await cite(one, other, 'rival.com')
  await createFundingWork(deps)()
  expect(await verdictOf(own)).toEqual(washTraded)
})

test('a long look that breaks off goes on where it was, and sums what it found before and after', async () => {
  const chain = createTransfers()
  const [large, small, wallet] = [newWallet(), newWallet(), newWallet()]
  const at = (block: number, from: Address, usd: number) => {
    chain.state.head = block - 1
    chain.send(from, wallet, usd)
  }
  at(60_500, large, 100)
  // In no piece enough to be written down beside the large one; together they are.
  for (const block of [61_000, 71_000, 81_000, 91_000, 99_000]) at(block, small, 0.6)
  chain.state.head = 100_000
  await cite(wallet, newWallet(), 'long-look.com')
  const work = createFundingWork(fundingOf(chain))
  chain.state.failsFrom = 85_000
  await work()
  const edges = async () => {
    const { rows } = await world.db.database.query<{ funder: Address; micro: string }>(
      'select funder, micro::text as micro from funding_edge where wallet = $1 order by first_block',
      [wallet],
    )
    return rows
  }
  expect(await edges()).toEqual([])
  chain.state.failsFrom = Number.POSITIVE_INFINITY
  // A peer checked without an answer is read all the same.
  await cite(wallet, newWallet(), 'long-look.com')
  const { rows } = await world.db.database.query<{ scanned_to: bigint }>(
    'select scanned_to from funding_wallet where wallet = $1',
    [wallet],
  )
  expect(rows[0]?.scanned_to).toBe(79_999n)
  await createFundingWork({ ...fundingOf(chain), settings: { ...fundingOf(chain).settings, hops: 1 } })()
  expect(await edges()).toEqual([
    { funder: large, micro: '100000000' },
    { funder: small, micro: '3000000' },
  ])
  const partial = await world.db.database.query('select from funding_partial where wallet = $1', [wallet])
  expect(partial.rowCount).toBe(0)
})

test('transfers are counted once however often the chain is read, and money that comes later joins what was apart', async () => {
  const chain = createTransfers()
  const [cluster, first, second] = [newWallet(), newWallet(), newWallet()]
  chain.send(cluster, first, 10)
  await registerSource(world.deps, { domain: 'joined.com', wallet: newWallet() })
  const work = createFundingWork(fundingOf(chain))
  await cite(first, newWallet(), 'elsewhere.com')
  await cite(second, newWallet(), 'elsewhere.com')
  await work()
  await aggregateCitations(world.deps, [
    { agent: first, source: 'joined.com' },
    { agent: second, source: 'joined.com' },
  ])
  chain.state.head += 12_000
  await work()
  await work()
  const edge = () =>
    world.db.database.query<{ micro: string }>('select micro from funding_edge where wallet = $1', [first])
  expect((await edge()).rows).toEqual([{ micro: '10000000' }])
  expect((await fundingClusters(world.db.database, [second])).get(second)).toBe(second)
  chain.send(cluster, second, 10)
  await work()
  const clusters = await fundingClusters(world.db.database, [first, second])
  expect(clusters.get(first)).toBe(clusters.get(second))
  const { rows } = await world.db.database.query(
    `select agent, citations from citation_edge where domain = 'joined.com' order by agent`,
  )
  expect(rows).toEqual([first, second].map((agent) => ({ agent, citations: 1 })))
})

test('a share that waited for a proof is checked again once it is known who is paid, and held from its release on', async () => {
  const chain = createTransfers()
  const [creator, agent] = [newWallet(), newWallet()]
  chain.send(zeroAddress, creator, 100)
  chain.send(creator, agent, 5)
  const id = await cite(agent, creator, 'proven-late.com', 30 * day)
  // Nobody had proven the domain when it was stamped.
  await world.db.owner.query('update attestation set creator = null where id = $1', [id])
  await world.db.owner.query('update creator_accrual set released_at = now() where subject = $1', [id])
  await createFundingWork(fundingOf(chain))()
  expect(await verdictOf(id)).toEqual(washTraded)
})

test('a chain that cannot be read keeps citations waiting for a while, not for ever', async () => {
  const chain = createTransfers()
  const [agent, creator] = [newWallet(), newWallet()]
  chain.state.down = true
  const [young, old] = [await cite(agent, creator, 'down.com'), await cite(agent, creator, 'down.com', 3_600_000)]
  const work = createFundingWork(fundingOf(chain))
  await work()
  expect([(await verdictOf(young)).checked, (await verdictOf(old)).checked]).toEqual([false, true])
  chain.state.down = false
  await work()
  expect(await verdictOf(young)).toEqual(counted)
})

test('clusters that mainly cite each other in a round are seen, one that is cited by many is not', async () => {
  const heavy = (payer: string, creator: string, citations = 10) => ({ payer, creator, citations })
  const round = [heavy('a', 'b'), heavy('b', 'c'), heavy('c', 'a'), heavy('x', 'a', 500), heavy('a', 'x', 1)]
  expect(findCycles(round)).toEqual(new Set([pairKey('a', 'b'), pairKey('b', 'c'), pairKey('c', 'a')]))
  const long = ['a', 'b', 'c', 'd', 'e'].map((payer, n, all) => heavy(payer, all[(n + 1) % all.length] as string))
  expect(findCycles(long).size).toBe(0)
  const chain = createTransfers()
  const [one, other] = [newWallet(), newWallet()]
  for (const [wallet, domain] of [
    [one, 'one-of-two.com'],
    [other, 'two-of-two.com'],
  ] as const) {
    await registerSource(world.deps, { domain, wallet })
    await world.db.database.query(
      `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, proven_at, created_at)
       values ('clm_' || $1, $1, $2, 'claim', repeat('a', 43), now(), 'proven', now(), now())`,
      [domain, wallet],
    )
  }
  const [there, back] = [await cite(one, other, 'two-of-two.com'), await cite(other, one, 'one-of-two.com')]
  const work = createFundingWork(fundingOf(chain))
  await work()
  // Nobody was known to be a creator and a payer before: seen from the next read on.
  const again = await cite(one, other, 'two-of-two.com')
  world.advance(400_000)
  await createFundingWork(fundingOf(chain))()
  expect((await verdictOf(again)).wash).toEqual(['reciprocal'])
  expect([(await verdictOf(there)).checked, (await verdictOf(back)).checked]).toEqual([true, true])
})

test('a flood of citations with almost no variety is seen, also when it comes from many wallets of one cluster', async () => {
  expect(entropyOf([7])).toBe(0)
  expect(entropyOf([1, 1, 1, 1])).toBe(2)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 20 }), (counts) => {
      const bits = entropyOf(counts)
      return bits >= -1e-9 && bits <= Math.log2(counts.length) + 1e-9
    }),
  )
  const chain = createTransfers()
  const funder = newWallet()
  const herd = Array.from({ length: 30 }, newWallet)
  for (const wallet of herd) chain.send(funder, wallet, 1)
  const creator = newWallet()
  const flood: string[] = []
  for (const wallet of herd) flood.push(await cite(wallet, creator, 'flooded.com'))
  const reader = newWallet()
  const varied: string[] = []
  for (let n = 0; n < 30; n += 1) varied.push(await cite(reader, creator, `varied-${n % 10}.com`))
  await createFundingWork(fundingOf(chain))()
  expect((await verdictOf(flood.at(-1) as string)).wash).toEqual(['burst'])
  expect((await verdictOf(flood[0] as string)).wash).toEqual([])
  expect((await verdictOf(varied.at(-1) as string)).wash).toEqual([])
})

test('a cluster has one weight by all that its wallets have at stake, and loses it with them', async () => {
  const chain = createTransfers()
  const [cluster, one, other] = [newWallet(), newWallet(), newWallet()]
  chain.send(cluster, one, 10)
  chain.send(cluster, other, 10)
  await cite(one, newWallet(), 'voiced.com')
  await cite(other, newWallet(), 'voiced.com')
  await createFundingWork(fundingOf(chain))()
  const bonds = new Map<Address, { micro: bigint }>([
    [one, { micro: 60_000_000n }],
    [other, { micro: 90_000_000n }],
  ])
  const deps = { ...world.deps, bonds: async () => bonds }
  const weights = async () =>
    (
      await world.db.database.query<{ weight: number }>(
        'select weight from citing_agent where agent = any($1) order by weight desc',
        [[one, other]],
      )
    ).rows.map(({ weight }) => weight)
  expect(await followBonds(deps)).toBe(true)
  // Of a fresh stake a quarter counts, and each has the part that is its own.
  expect(await weights()).toEqual([expect.closeTo(0.25 * 0.6, 4), expect.closeTo(0.25 * 0.4, 4)])
  expect(await followBonds(deps)).toBe(false)
  bonds.delete(other)
  bonds.set(one, { micro: 25_000_000n })
  expect(await followBonds(deps)).toBe(true)
  expect(await weights()).toEqual([expect.closeTo(0.25 * 0.25 ** 1.5, 4), 0])
})

test('clusters are the connected parts of any graph of funders', () => {
  const names = fc.constantFrom(...'abcdefghij')
  fc.assert(
    fc.property(fc.array(fc.record({ wallet: names, funder: names }), { maxLength: 15 }), (edges) => {
      const { join, nameOf: clusterOf } = createClusters()
      for (const { wallet, funder } of edges) join(wallet, funder)
      const reach = (from: string) => {
        const seen = new Set([from])
        for (let grown = true; grown; ) {
          grown = false
          for (const { wallet, funder } of edges)
            if (seen.has(wallet) !== seen.has(funder)) {
              seen.add(wallet)
              seen.add(funder)
              grown = true
            }
        }
        return seen
      }
      for (const name of 'abcdefghij')
        for (const other of 'abcdefghij') expect(clusterOf(name) === clusterOf(other)).toBe(reach(name).has(other))
    }),
    { numRuns: 100 },
  )
})
