import type { Address } from '@assay/protocol/address'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { registerSource } from '../register/register-source.ts'
import { useSourceWorld } from '../sources.fixture.ts'
import { agentWeight, isSelfDealing } from './agent-weight.ts'
import { aggregateCitations, reaggregateAll, reaggregateTrust } from './aggregate-citations.ts'
import { authorityValue } from './components.ts'
import { roundScore } from './compute-score.ts'
import { loadRanks, loadSeeds } from './load-inputs.ts'
import { componentWeights } from './model.ts'
import { refreshWeights } from './refresh-weights.ts'
import { scoreSources } from './score-sources.ts'
import { type Citation, createTrustGraph } from './trust-graph.ts'

const world = await useSourceWorld()

const sources = Array.from({ length: 6 }, (_, n) => `cited-${n}.com`)
const wallet = '0x1111111111111111111111111111111111111111' as const
const weightOf = (agent: string) => (agent.endsWith('0') ? 1 : agent.endsWith('1') ? 0.5 : 0)

test('batches aggregated one after another hold the same trust as everything aggregated at once, and as the rule in memory', async () => {
  for (const domain of sources) await registerSource(world.deps, { domain, wallet })
  await scoreSources(world.deps)
  const graph = createTrustGraph(weightOf)
  const names = fc.sample(fc.stringMatching(/^agent-[a-c][0-2]$/), 9)
  for (const agent of new Set(names))
    await world.db.database.query(
      'insert into citing_agent (agent, cluster, weight, first_seen_at) values ($1, $1, $2, now())',
      [agent, weightOf(agent)],
    )
  const batches = fc.sample(
    fc.array(fc.record({ agent: fc.constantFrom(...names), source: fc.constantFrom(...sources) }), {
      minLength: 1,
      maxLength: 40,
    }),
    8,
  )
  for (const batch of batches) {
    graph.add(batch)
    await aggregateCitations(world.deps, batch)
  }
  const trust = async () =>
    (
      await world.db.database.query<{ domain: string; mass: number; stake: number }>(
        'select domain, mass, stake from source_trust order by domain',
      )
    ).rows
  const aggregated = await trust()
  for (const row of aggregated) {
    expect(row.mass).toBeCloseTo(graph.mass(row.domain), 9)
    expect(row.stake).toBeCloseTo(graph.stake(row.domain), 9)
  }
  await world.db.database.transaction((tx) => reaggregateTrust(tx, new Date()))
  for (const row of await trust()) expect(row.mass).toBeCloseTo(graph.mass(row.domain), 9)
})

test('the database gives a changed authority the same score as the code', async () => {
  await aggregateCitations(
    world.deps,
    Array.from({ length: 30 }, (_, n): Citation => ({ agent: `agent-${n}`, source: sources[n % 6] ?? '' })),
  )
  const { rows } = await world.db.database.query<{
    cite_score: number
    rest: number
    gate: number
    external: number | null
    mass: number
    stake: number
    mean: number | null
  }>(
    `select s.cite_score, p.rest, p.gate, p.external, t.mass, t.stake, (select mean_mass from trust_scale) as mean
     from source s join score_parts p using (domain) join source_trust t using (domain)`,
  )
  expect(rows.length).toBe(sources.length)
  for (const row of rows) {
    const authority = authorityValue(
      { mass: row.mass, meanMass: row.mean ?? 1, stake: row.stake },
      row.external ?? undefined,
    )
    expect(
      Math.abs(row.cite_score - roundScore(componentWeights.authority * authority + row.rest, row.gate)),
    ).toBeLessThanOrEqual(1)
  }
})

test('wash citing by any number of wallets without trust moves no score', async () => {
  const scores = async () =>
    (
      await world.db.database.query<{ domain: string; cite_score: number }>(
        'select domain, cite_score from source order by domain',
      )
    ).rows
  const before = await scores()
  const outcome = await aggregateCitations(
    world.deps,
    Array.from({ length: 2_000 }, (_, n) => ({ agent: `wash-${n % 500}`, source: sources[0] ?? '' })),
  )
  expect(outcome.rescored).toBe(0)
  expect(await scores()).toEqual(before)
})

test('wallets of one cluster share one weight by what each has at stake; being joined to them gives none', async () => {
  await world.db.database.query(
    `insert into citing_agent (agent, cluster, bond_micro, seed, first_seen_at)
     select 'shared-' || n, 'shared-1', bond, seed, now() - interval '1 year'
     from (values (1, 90000000, false), (2, 10000000, false), (3, 0, false), (4, 0, true)) t (n, bond, seed)`,
  )
  await registerSource(world.deps, { domain: 'shared.com', wallet })
  await registerSource(world.deps, { domain: 'hijack.com', wallet })
  await aggregateCitations(world.deps, [
    { agent: 'shared-1', source: 'shared.com' },
    { agent: 'shared-2', source: 'shared.com' },
    ...Array.from({ length: 100 }, () => ({ agent: 'shared-3', source: 'hijack.com' })),
  ])
  await reaggregateAll(world.deps)
  const { rows: trust } = await world.db.database.query(
    `select domain, mass, stake from source_trust where domain in ('shared.com', 'hijack.com') order by domain`,
  )
  expect(trust).toEqual([{ domain: 'shared.com', mass: expect.closeTo(1, 9), stake: expect.closeTo(1, 9) }])
  const { rows } = await world.db.database.query<{ weight: number }>(
    `select weight from citing_agent where agent like 'shared-%' order by agent`,
  )
  expect(rows.map(({ weight }) => weight)).toEqual([expect.closeTo(0.9, 9), expect.closeTo(0.1, 9), 0, 1])
})

test('trust comes from seeds, bonds and age times spending, within bounds; self-dealing is seen', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.nat(),
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      (seed, bond, ageMs, spend) => {
        const weight = agentWeight({
          seed,
          clusterBondMicro: bond,
          bondAgeMs: ageMs,
          ageMs,
          independentSpendMicro: spend,
        })
        return weight >= 0 && weight <= 1
      },
    ),
  )
  expect(
    agentWeight({ seed: false, clusterBondMicro: 0n, bondAgeMs: 10 ** 12, ageMs: 10 ** 12, independentSpendMicro: 0n }),
  ).toBe(0)
  expect(
    agentWeight({
      seed: false,
      clusterBondMicro: 0n,
      bondAgeMs: 10 ** 12,
      ageMs: 10 ** 12,
      independentSpendMicro: 10n ** 15n,
    }),
  ).toBe(0.5)
  const bonded = (usd: number) =>
    agentWeight({
      seed: false,
      clusterBondMicro: BigInt(usd * 1e6),
      bondAgeMs: 10 ** 12,
      ageMs: 10 ** 12,
      independentSpendMicro: 0n,
    })
  expect([bonded(9), bonded(100), bonded(1_000)]).toEqual([0, 1, 1])
  // The same money in more wallets has less weight.
  expect(10 * bonded(10)).toBeLessThan(bonded(100) / 3)
  expect(isSelfDealing({ agentWallet: 'a', agentCluster: 'x', payeeWallet: 'b', payeeCluster: 'x' })).toBe(true)
  expect(isSelfDealing({ agentWallet: 'a', agentCluster: 'x', payeeWallet: 'b', payeeCluster: undefined })).toBe(false)
})

test('a bond counts by how long it has been at stake, not by the age of its wallet, and new money does not become old', async () => {
  const { database } = world.db
  const start = world.deps.clock.nowMs()
  const bonded = new Map<Address, { micro: bigint }>()
  const bonds = async () => bonded
  const old: Address = `0x${'0d'.repeat(20)}`
  const weightAfter = async (days: number, usd: number) => {
    const now = new Date(start + days * 86_400_000)
    if (usd > 0) bonded.set(old, { micro: BigInt(usd) * 1_000_000n })
    else bonded.delete(old)
    await database.transaction((tx) => refreshWeights(tx, now, bonds))
    const { rows } = await database.query<{ weight: number }>('select weight from citing_agent where agent = $1', [old])
    return rows[0]?.weight
  }
  await database.query('insert into citing_agent (agent, cluster, first_seen_at) values ($1, $1, $2)', [
    old,
    new Date(start),
  ])
  expect(await weightAfter(365, 100)).toBeCloseTo(0.25, 6)
  expect(await weightAfter(365 + 90, 100)).toBeCloseTo(1, 6)
  expect(await weightAfter(365 + 90, 0)).toBe(0)
  expect(await weightAfter(365 + 90, 50)).toBeCloseTo(0.25 * 0.5 ** 1.5, 6)
  // Half of it has been there for ninety days, half of it is new.
  expect(await weightAfter(365 + 180, 100)).toBeCloseTo(0.25 + 0.75 / 2, 6)
})

test('an operator loads a rank list and seeds, and authority rests on them', async () => {
  const ranks = await loadRanks(world.db.database, {
    text: '1,cited-3.com\n2,other.com\nbad line\n',
    name: 'list',
    asOf: '2026-11-01',
    licence: 'CC0',
    actor: 'test',
  })
  expect(ranks).toEqual({ entries: 2, skipped: 1 })
  expect(
    await loadSeeds(world.db.database, {
      text: `# trusted\n${wallet}\nnot an address\n`,
      actor: 'test',
      nowMs: Date.now(),
    }),
  ).toEqual({ seeds: 1, skipped: 1 })
  while ((await scoreSources(world.deps)) > 0);
  const { rows } = await world.db.database.query<{ domain: string; external: number | null }>(
    'select domain, external from score_parts where external is not null',
  )
  expect(rows).toEqual([{ domain: 'cited-3.com', external: 1 }])
})

test('a weight follows from seed, bond, or age times what was spent at the operator, and goes when they go', async () => {
  const { database, owner } = world.db
  const spender = '0x5555555555555555555555555555555555555555'
  await database.query(
    `insert into citing_agent (agent, cluster, bond_micro, first_seen_at)
     values ($1, $1, 0, now() - interval '2 years'), ('bonded', 'bonded', 50000000, now() - interval '1 year'), ('member', 'bonded', 25000000, now()), ('poor', 'poor', 0, now())`,
    [spender],
  )
  await owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(
      `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final)
       select 'exact', 400000000, 'pay_' || n, case when n = 3 then 'failed' else 'served' end, 'eip155:8453', 'eip155:8453/erc20:0xa', $1, sha256(n::text::bytea), '0x', case when n = 2 then 'custody' else 'pay_to' end, 400000000, 0, 'r', 'r', '', false, 1, now(), now(), 1, true
       from generate_series(1, 3) n`,
      [spender],
    )
  })
  await registerSource(world.deps, { domain: 'spoken-for.com', wallet })
  while ((await scoreSources(world.deps)) > 0);
  const before = await aggregateCitations(world.deps, [
    { agent: 'poor', source: 'spoken-for.com' },
    { agent: 'bonded', source: 'spoken-for.com' },
    // What is no source must not stop the others.
    { agent: 'bonded', source: 'nowhere.com' },
  ])
  expect(before.rescored).toBe(0)
  await reaggregateAll(world.deps)
  const weights = async () =>
    Object.fromEntries(
      (
        await database.query<{ agent: string; weight: number }>(
          `select agent, weight from citing_agent where agent in ($1, 'bonded', 'member', 'poor') order by agent`,
          [spender],
        )
      ).rows.map((row) => [row.agent, row.weight]),
    )
  const [half, third] = [expect.closeTo((0.75 ** 1.5 * 2) / 3, 9), expect.closeTo(0.75 ** 1.5 / 3, 9)]
  const spent = expect.closeTo(0.4 ** 1.5, 9)
  expect(await weights()).toEqual({ [spender]: spent, bonded: half, member: third, poor: 0 })
  const trust = await database.query<{ mass: number }>(`select mass from source_trust where domain = 'spoken-for.com'`)
  expect(trust.rows).toEqual([{ mass: half }])
  await database.query(`update citing_agent set bond_micro = 0 where cluster = 'bonded'`)
  await reaggregateAll(world.deps)
  expect(await weights()).toMatchObject({ bonded: 0, [spender]: spent })
})
