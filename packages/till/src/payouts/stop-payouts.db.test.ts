import { beforeEach, expect, test } from 'vitest'
import { accounts, balanceOf } from '../ledger/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { acceptLoss, payoutsStopped, recordDifference, resumePayouts, stopPayouts } from './stop-payouts.ts'

const network = 'eip155:8453'
const db = await useTestDatabase()
beforeEach(() => db.owner.query('delete from custody_difference'))

const note = (block: bigint, differenceMicro: bigint) =>
  recordDifference(db.database, { network, block, differenceMicro })

test('payouts go on while the books miss money', async () => {
  expect(await note(10n, -5n)).toBe('ok')
  // The same block again proves nothing new.
  expect(await note(10n, -5n)).toBe('ok')
  expect(await payoutsStopped(db.database, network)).toBe(false)
  expect(await note(11n, -7n)).toBe('stopped')
  expect(await payoutsStopped(db.database, network)).toBe(true)
  expect(await payoutsStopped(db.database, 'eip155:137')).toBe(false)
  expect(await note(12n, -1n)).toBe('stopped')
  expect(await note(13n, 0n)).toBe('ok')
  expect(await payoutsStopped(db.database, network)).toBe(false)
})

test('a difference that was gone in between does not stop payouts', async () => {
  expect([await note(1n, -5n), await note(2n, 0n), await note(3n, -5n)]).toEqual(['ok', 'ok', 'ok'])
  expect([await note(4n, 8n), await note(5n, -5n)]).toEqual(['ok', 'ok'])
})

test('a person accepts the loss: it is posted and audited, and payouts go on', async () => {
  expect(await acceptLoss(db.database, network, 'operator', 'nothing there')).toEqual({ status: 'not_stopped' })
  await note(20n, -30n)
  await note(21n, -40n)
  expect(await acceptLoss(db.database, network, 'operator', 'wiped by the issuer')).toEqual({
    status: 'accepted',
    lossMicro: 40n,
  })
  expect(await payoutsStopped(db.database, network)).toBe(false)
  expect(await balanceOf(db.database, accounts.custodyLoss(network))).toBe(40n)
  expect(await balanceOf(db.database, accounts.onchain(network, 'custody'))).toBe(-40n)
  const { rows } = await db.database.query(
    `select actor, details->>'note' as note from audit_log order by id desc limit 1`,
  )
  expect(rows).toEqual([{ actor: 'operator', note: 'wiped by the issuer' }])
})

test('an accepted loss books the transfers that took the money, and only the rest without one', async () => {
  await db.owner.query(
    `insert into transfer (network, asset, transaction, position, sender, recipient, amount_micro, block_number, block_hash, final, missing)
     values ($1::text, $1::text || '/erc20:0xa', sha256('stolen'), 2, 'custody', 'thief', 25, 30, '', true, true)`,
    [network],
  )
  await note(30n, -60n)
  await note(31n, -60n)
  await acceptLoss(db.database, network, 'operator', 'the key was stolen')
  const { rows } = await db.database.query(
    `select t.kind, e.amount_micro as micro, f.transaction = sha256('stolen') as stolen from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id and a.is_wallet
     left join transfer f on f.id = t.transfer_id where t.memo = 'the key was stolen' order by e.amount_micro desc`,
  )
  expect(rows).toEqual([
    { kind: 'custody_loss', micro: -25n, stolen: true },
    { kind: 'opening', micro: -35n, stolen: null },
  ])
})

test('stop and resume act at once', async () => {
  await stopPayouts(db.database, network, -3n, 7n)
  expect(await payoutsStopped(db.database, network)).toBe(true)
  await resumePayouts(db.database, network)
  expect(await payoutsStopped(db.database, network)).toBe(false)
})
