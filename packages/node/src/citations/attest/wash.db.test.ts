import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address } from '../../kernel/address.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import { findWashSigns, type WashParties } from './wash.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

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
