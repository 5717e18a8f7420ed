import { accounts, credit, debit, post } from '@assay/till/ledger'
import { expect, test } from 'vitest'
import { externalAccount } from '../../../../till/src/ledger/accounts.fixture.ts'
import { useTestDatabase } from '../../../../till/src/store/use-database.fixture.ts'
import { readRevenue } from './read-revenue.ts'
import { recordRouteShops } from './route-shops.ts'

const network = 'eip155:8453'
const db = await useTestDatabase()

test('revenue is shown by the shop that a route belongs to, and under the id of a route that is gone', async () => {
  const record = (shops: Record<string, string>) =>
    recordRouteShops(
      db.database,
      Object.entries(shops).map(([id, shop]) => ({ id, shop })),
    )
  const shown = async () => {
    const nowMs = Date.now()
    const range = { from: new Date(nowMs - 86_400_000), until: new Date(nowMs + 86_400_000) }
    return new Map((await readRevenue(db.database, range)).map(({ shop, gross }) => [shop, gross]))
  }
  for (const [id, micro] of [
    ['cite.attest', 1_000n],
    ['citations.match', 20n],
    ['claims.verify', 3n],
  ] as const)
    await db.database.transaction((tx) =>
      post(tx, [
        {
          reference: id,
          kind: 'settlement',
          lines: [debit(externalAccount(network), micro), credit(accounts.revenue(network, id), micro)],
        },
      ]),
    )
  await record({ 'cite.attest': 'attestations', 'claims.verify': 'attestations', 'citations.match': 'match' })
  expect(await shown()).toEqual(
    new Map([
      ['attestations', 1_003n],
      ['match', 20n],
    ]),
  )
  await record({ 'cite.attest': 'attestations', 'claims.verify': 'attestations' })
  expect(await shown()).toEqual(
    new Map([
      ['attestations', 1_003n],
      ['citations.match', 20n],
    ]),
  )
})
