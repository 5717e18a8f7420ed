import type { Address } from '@assay/protocol/address'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { findWashSigns, type WashParties } from './wash.ts'

const db = await useTestDatabase()

const walletAt = (n: number): Address => `0x${(n + 1).toString(16).padStart(40, '0')}`
const parties = (subject: string, agent: number, creator: number | undefined, registrable: string): WashParties => ({
  subject,
  agent: walletAt(agent),
  payer: walletAt(agent),
  creator: creator === undefined ? undefined : walletAt(creator),
  registrable,
  nowMs: 1_800_000_000_000,
})

test('citations that end together are seen in the light of each other', async () => {
  const burst = Array.from({ length: 22 }, (_, n) => parties(`att_${n}`, 1, 50, 'one.test'))
  const signs = await findWashSigns(db.database, burst)
  expect(signs.slice(0, 20).every((own) => own.length === 0)).toBe(true)
  expect(signs.slice(20)).toEqual([['burst'], ['burst']])
  const [there, back, self] = await findWashSigns(db.database, [
    parties('att_a', 2, 3, 'three.test'),
    parties('att_b', 3, 2, 'two.test'),
    parties('att_c', 4, 4, 'four.test'),
  ])
  expect([there, back, self]).toEqual([[], ['reciprocal'], ['payer_is_creator', 'agent_is_creator']])
})

test('the pages of one claim are one citation, not many', async () => {
  const pages = Array.from({ length: 30 }, () => parties('clm_1', 5, 50, 'one.test'))
  expect((await findWashSigns(db.database, pages)).flat()).toEqual([])
  expect(await findWashSigns(db.database, [])).toEqual([])
})

test('a wallet that claimed a source that is not proven yet, or shares a cluster with a claimer, cites itself', async () => {
  await db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ('mine.test', 'mine.test', 'mine.test', 'http://mine.test', 'registered', now(), now())`,
  )
  await db.owner.query(
    `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, created_at)
     values ('clm_mine', 'mine.test', $1, 'claim', repeat('a', 43), now(), 'open', now())`,
    [walletAt(70)],
  )
  await db.owner.query(
    `insert into citing_agent (agent, cluster, first_seen_at) values ($1, $1, now()), ($2, $1, now())`,
    [walletAt(70), walletAt(71)],
  )
  const cite = (subject: string, agent: number) => ({
    ...parties(subject, agent, undefined, 'mine.test'),
    names: ['www.mine.test', 'mine.test'],
  })
  const signs = await findWashSigns(db.database, [cite('att_m1', 70), cite('att_m2', 71), cite('att_m3', 72)])
  expect(signs.map((own) => own.length > 0)).toEqual([true, true, false])
})
