import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPayoutWorld, type PayoutWorld } from './promises/payout-world.ts'
import { checkAll, checkReceived, untilPaid } from './promises/payouts.ts'
import { createFaults } from './promises/proof.ts'

/** Two payouts in one transaction, and a process that dies at it: each is paid once and posted once. */
let world: PayoutWorld
let payees: Awaited<ReturnType<PayoutWorld['owe']>>

beforeEach(async () => {
  world = await openPayoutWorld()
  payees = await world.owe(2)
})
afterEach(() => world.close())

const states = async () => {
  const { rows } = await world.db.owner.query<{ state: string }>('select state from payout order by state')
  return rows.map(({ state }) => state)
}

/** What the dead process left is resumed by the next one. */
async function expectPaidOnce(): Promise<void> {
  await world.restart()
  const faults = createFaults()
  await untilPaid(world, 'after the death', faults)
  await checkReceived(world, payees, 'after the death', faults)
  await checkAll(world, payees.length, faults)
  expect(faults.all()).toEqual([])
  const { rows } = await world.db.owner.query(
    `select count(*)::int as rows, count(distinct transaction)::int as transactions, sum(amount_micro)::bigint as micro
     from transfer where posted_as = 'payout'`,
  )
  expect(rows).toEqual([{ rows: 2, transactions: 1, micro: payees.reduce((sum, { micro }) => sum + micro, 0n) }])
}

test('a process that dies before its batch of two payouts is sent leaves both to be paid once', async () => {
  world.dieOn(/eth_sendRawTransaction/, 'before')
  await world.run()
  expect([await states(), await world.transfersOut()]).toEqual([['signed', 'signed'], 0])
  await expectPaidOnce()
})

test('a process that dies between the sending of a batch and its posting pays neither of two payees twice', async () => {
  world.dieOn(/eth_sendRawTransaction/, 'after')
  await world.run()
  expect([await states(), await world.transfersOut()]).toEqual([['signed', 'signed'], 2])
  await expectPaidOnce()
})

test('a process that dies between two postings of one batch leaves the other to be posted once', async () => {
  await world.run()
  await world.devnet.control.mine(3)
  world.dieOn(/^db commit$/, 'after')
  await world.run()
  expect([await states(), await world.transfersOut()]).toEqual([['paid', 'signed'], 2])
  await expectPaidOnce()
})

test('a process that dies within the posting of one of two payouts leaves both to be posted once', async () => {
  await world.run()
  await world.devnet.control.mine(3)
  world.dieOn(/^tx ledger_post/, 'after')
  await world.run()
  expect([await states(), await world.transfersOut()]).toEqual([['signed', 'signed'], 2])
  await expectPaidOnce()
})
