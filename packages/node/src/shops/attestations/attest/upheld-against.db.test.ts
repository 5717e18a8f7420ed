import type { Address } from '@assay/protocol/address'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { insertTestRuling } from './ruling.fixture.ts'
import { isUpheldAgainst } from './upheld-against.ts'

const db = await useTestDatabase()

const [wallet, friend, stranger] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [
  Address,
  Address,
  Address,
]

test('a ruling counts against a wallet that had a part in a wash-traded citation, or shares its cluster with one that had', async () => {
  await insertTestRuling(db.database, 'wash_traded', { wallet })
  await insertTestRuling(db.database, 'clean', { wallet, wash: [] })
  await insertTestRuling(db.database, 'open', { wallet, checked: false })
  await insertTestRuling(db.database, 'of-others', { wallet: stranger })
  await insertTestRuling(db.database, 'of-a-friend', { wallet: friend })
  const upheld = async () => {
    const names = ['wash_traded', 'any words', 'clean', 'open', 'of-others', 'of-a-friend']
    const held = await db.database.transaction(async (tx) => {
      const outcomes: boolean[] = []
      for (const name of names) outcomes.push(await isUpheldAgainst(tx, name, wallet))
      return outcomes
    })
    return names.filter((_, place) => held[place])
  }
  expect(await upheld()).toEqual(['wash_traded'])
  await db.owner.query(
    'insert into citing_agent (agent, cluster, first_seen_at) values ($1, $2, now()), ($2, $2, now())',
    [wallet, friend],
  )
  expect(await upheld()).toEqual(['wash_traded', 'of-a-friend'])
})
