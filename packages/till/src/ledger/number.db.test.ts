import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { accounts } from './accounts.ts'
import { post } from './post.ts'

const db = await useTestDatabase()

test('the number of a posting begins with its second, so that its entries are in the partition of their time', async () => {
  const network = 'eip155:8453'
  const lines = [
    { account: accounts.revenue(network, 'test.route'), amount: -1n },
    { account: accounts.clearingPayments(network), amount: 1n },
  ]
  const [posted] = await post(db.database, [{ reference: 'now', kind: 'opening', lines }])
  const { rows } = await db.owner.query<{ part: string; is_of_its_second: boolean }>(
    `select distinct e.tableoid::regclass::text as part,
       (e.transaction_id >> 31) - floor(extract(epoch from t.created_at))::bigint in (-1, 0, 1) as is_of_its_second
     from ledger_entry e join ledger_transaction t on t.id = e.transaction_id where t.id = $1`,
    [posted?.transactionId],
  )
  expect(rows).toEqual([{ part: expect.stringMatching(/^ledger_entry_[0-9]{8}$/), is_of_its_second: true }])
})
