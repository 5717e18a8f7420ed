import { expect, test } from 'vitest'
import { registerSource } from '../../sources/register/register-source.ts'
import { gatherEvidence } from '../../sources/score/gather-evidence.ts'
import { useSourceWorld } from '../../sources/sources.fixture.ts'
import { aggregateAttestations } from './aggregate-attestations.ts'

const world = await useSourceWorld()

const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

test('wash-traded citations and quotes by those with nothing at stake leave the usage of a source as it was', async () => {
  const { database } = world.db
  const domain = 'quoted.com'
  await registerSource(world.deps, { domain, wallet: '0x1111111111111111111111111111111111111111' })
  // The first wallet is a seed of the operator, the others are nobody's.
  await world.db.owner.query(
    `insert into citing_agent (agent, cluster, weight, seed, first_seen_at) values ($1, $1, 1, true, now())`,
    [wallet(1)],
  )
  let last = 0
  const cite = async (agent: number, found: boolean, wash: string[]) => {
    last += 1
    await world.db.owner.query(
      `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester, price_micro, quote_found, wash, created_at, checked_at)
       values ($1, 'citation', $1, 'eip155:8453', $2, $2, 'https://quoted.com/', $3, $3, decode(repeat('00', 65), 'hex'), '', 5000, $4, $5, now(), now())`,
      [`att_${last}`, wallet(agent), domain, found, wash],
    )
  }
  const usage = async () => {
    await aggregateAttestations(world.deps)
    const [gathered] = await gatherEvidence(database, world.deps.clock, [domain])
    const { rows } = await database.query<{ citations: bigint }>(
      'select citations from source_usage where domain = $1',
      [domain],
    )
    return { stake: gathered?.evidence.usage.stake, citations: Number(rows[0]?.citations ?? 0) }
  }
  for (let n = 0; n < 20; n += 1) await cite(1, true, ['reciprocal'])
  expect(await usage()).toEqual({ stake: 0, citations: 0 })
  for (let n = 2; n < 22; n += 1) await cite(n, n % 2 === 0, [])
  expect(await usage()).toEqual({ stake: 0, citations: 20 })
  await cite(1, false, [])
  expect(await usage()).toEqual({ stake: 0, citations: 21 })
  for (let n = 0; n < 3; n += 1) await cite(1, true, [])
  expect(await usage()).toEqual({ stake: 1, citations: 24 })
})
