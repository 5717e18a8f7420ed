import type { Address } from '@assay/protocol/address'
import { afterEach, expect, test } from 'vitest'
import type { PaidRoute, ReversalHook } from '../contract/paid-call.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, balanceOf, post } from '../ledger/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { NotRefundable } from './not-refundable.ts'
import { executeRefunds, readRefund, requestRefund } from './refund-payment.ts'

const network = 'eip155:8453'
const payer: Address = `0x${'7'.repeat(40)}`
const price = 100n
const db = await useTestDatabase({ poolSize: 2 })
const errors: string[] = []
const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) }
afterEach(() => {
  errors.length = 0
})

/** A sale that is final, for which a refund was asked. */
async function asked(id: string, amountMicro = price): Promise<string> {
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, settled_at, head_block, final)
     values ('exact', $4, $1::text, 'served', $2::text, $2::text || '/erc20:0xa', $3, sha256($1::text::bytea), $3, 'custody', $4, 0, 'test.route', '', sha256('x'),
       true, 0, now(), now(), now(), 1, true)`,
    [id, network, payer, price],
  )
  await post(db.database, [
    {
      ...{ reference: `test:${id}`, kind: 'opening', paymentId: id },
      lines: [
        { account: accounts.clearingPayments(network), amount: price },
        { account: accounts.revenue(network, 'test.route'), amount: -price },
      ],
    },
  ])
  expect(await requestRefund(db.database, { paymentId: id, amountMicro, reason: 'test', by: 'test' })).toMatchObject({
    status: 'asked',
  })
  return id
}

const execute = (revoke: NonNullable<PaidRoute['revoke']>, hook: ReversalHook = async () => {}) =>
  executeRefunds({
    ...{
      database: db.database,
      clock: systemClock,
      ids: createIds(systemClock, systemRng),
      log,
      metrics: silentMetrics,
    },
    routeOf: () => ({ revoke }) as unknown as PaidRoute,
    reversalHooks: [hook],
  })

const revenue = () => balanceOf(db.database, accounts.revenue(network, 'test.route'))

test('what can no longer be revoked is not refunded, once and for good, and its money stays where it is', async () => {
  const used = await asked('pay_used')
  const part = await asked('pay_part', 40n)
  const before = await revenue()
  let tried = 0
  const refuse = async () => {
    tried += 1
    throw new NotRefundable('the ticket was used')
  }
  for (const _ of [1, 2]) await execute(refuse, refuse)
  expect(tried).toBe(2)
  for (const id of [used, part])
    expect(await readRefund(db.database, id)).toMatchObject({
      ...{ state: 'refused', outcome: 'the ticket was used', payout: null },
    })
  expect(await revenue()).toBe(before)
  expect(errors).toEqual([])
})

test('any other error is tried again', async () => {
  const id = await asked('pay_again')
  await execute(() => Promise.reject(new Error('the database is away')))
  expect(await readRefund(db.database, id)).toMatchObject({ state: 'asked' })
  expect(errors).toEqual(['a refund could not be carried out yet'])
  await execute(async () => {})
  expect(await readRefund(db.database, id)).toMatchObject({ state: 'paying' })
})
