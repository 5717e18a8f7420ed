import { randomBytes } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { expectSoundBooks } from './harness/invariants.ts'
import { openReconciledTill } from './harness/reconciled-till.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { buy, echoPath, quote, send, signPayment } from './harness/till-fixture.ts'
import { submitAuthorization } from './harness/wallets.ts'

const world = await openReconciledTill()
const till = world.till
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

const reconcile = () => world.reconcile()

/** By a spender who was allowed nothing: anybody can move nothing. */
const moveNothing = (from: Address, to: Address) =>
  sendTransaction(till.base, privateKeyToAccount(demoAccount('affiliate').privateKey), {
    to: till.base.usdc,
    data: encodeFunctionData({
      abi: parseAbi(['function transferFrom(address,address,uint256) returns (bool)']),
      args: [from, to, 0n],
    }),
  })

const stakeOf = async () => {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(sum(e.amount_micro), 0)::bigint as micro from ledger_entry e
     join ledger_account a on a.id = e.account_id where a.name = 'operator:usdc@eip155:8453'`,
  )
  return rows[0]?.micro ?? 0n
}
const withdraw = (micro: bigint) => world.transfer('operator', demoAccount('creator').address, micro)

test('money that came before the first claim is not counted twice when the books are opened', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${till.node.url}${echoPath}`))
  await submitAuthorization(till.base, payload)
  await till.base.control.mine(2)
  // Credited from a block that is before the head of its claim.
  expect((await send(`${till.node.url}${echoPath}`, payload)).status).toBe(409)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('transfers of nothing, plain or authorized, neither stop the comparison nor fill the review queue', async () => {
  const stranger = await till.newBuyer()
  const offer = await quote(`${till.node.url}${echoPath}`)
  await submitAuthorization(till.base, await signPayment(stranger, offer, { value: 0n }))
  await moveNothing(stranger.address, till.node.config.payTo)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 0 })
  const { rows } = await till.db.owner.query(`select from transfer where sender = $1`, [stranger.address.toLowerCase()])
  expect(rows).toEqual([])
  expect((await buy(stranger, `${till.node.url}${echoPath}`)).status).toBe(200)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('a withdrawal is posted once although a transfer beside it still waits for its claim to end', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${till.node.url}${echoPath}`))
  await till.db.owner.query(
    `with taken as (
       insert into claim (payer, network, payment_key, payment_id) values ($2, 'eip155:8453', $3, 'pay_stuck'))
     insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block)
     values ('exact', 1000, 'pay_stuck', 'unknown', 'eip155:8453', 'eip155:8453/erc20:' || $1, $2, $3, $4, 'pay_to', 1000, 0, 'sandbox.echo.get', '', $5, false, 0, now(), now(), $6)`,
    [
      till.base.usdc,
      buyer.address.toLowerCase(),
      Buffer.from((payload.payload.authorization['nonce'] as string).slice(2), 'hex'),
      till.node.config.payTo,
      randomBytes(32),
      (await world.chain.head()).number,
    ],
  )
  await till.db.owner.query(
    `insert into payer_in_flight (network, payer, in_flight, in_flight_micro) values ('eip155:8453', $1, 1, 1000)`,
    [buyer.address.toLowerCase()],
  )
  await submitAuthorization(till.base, payload)
  const before = await stakeOf()
  await withdraw(300n)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  await till.base.control.mine(1)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  await till.db.owner.query(`update payment set state = 'failed' where id = 'pay_stuck'`)
  await till.db.owner.query(`update payer_in_flight set in_flight = 0, in_flight_micro = 0 where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  await till.base.control.mine(1)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  expect((await stakeOf()) - before).toBe(300n)
})

test('a withdrawal is posted once although the comparison broke off in the middle', async () => {
  const before = await stakeOf()
  await withdraw(400n)
  expect(await world.reconcile(true)).toBeUndefined()
  await till.base.control.mine(1)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  expect((await stakeOf()) - before).toBe(400n)
})
