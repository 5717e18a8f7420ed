import { beforeEach, expect, test } from 'vitest'
import type { Facilitator } from '../packages/till/src/index.ts'
import { creditOf, spentOnChain, statesOf } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const shop = createTestShop()
let whileSettling: (() => Promise<void>) | undefined
/** Can be interrupted before it refuses. */
const interrupted = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: async (payment, signal) => {
    if (whileSettling) {
      await whileSettling()
      return { status: 'refused', reason: 'insufficient_funds', payloadSent: false }
    }
    return facilitator.settle(payment, signal)
  },
})

const till = useTill({ ownShops: 'till', shops: [shop.open], intercept: { facilitator: interrupted }, jobs: false })
beforeEach(() => {
  whileSettling = undefined
  shop.commitFails = undefined
})

const at = (path: string) => `${till.node.url}${path}`
test('what was paid on a route that is sold no more is credited, never called served without its effect', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  // The effect cannot be committed, so the settled payment is left behind.
  shop.commitFails = new Error('the shop is broken')
  expect((await send(at('/test/small'), payload)).status).toBe(503)
  await expect.poll(() => statesOf(till, buyer.address)).toEqual(['unknown'])
  const withoutShop = await till.startAnother({ jobs: true })
  await withoutShop.stop()
  expect(await statesOf(till, buyer.address)).toEqual(['credited'])
  expect(await creditOf(till, buyer.address)).toBe(1_500n)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a payment that recovery finishes bears its part of the gas in the books, once', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  shop.commitFails = new Error('the shop is broken')
  expect((await send(at('/test/small'), payload)).status).toBe(503)
  await expect.poll(() => statesOf(till, buyer.address)).toEqual(['unknown'])
  shop.commitFails = undefined
  const recovering = await till.startAnother({ jobs: true, shops: [shop.open] })
  await recovering.stop()
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  const { rows } = await till.db.owner.query<{ gwei: bigint }>(
    `select e.amount_micro as gwei from payment p
     join ledger_transaction t on t.payment_id = p.id and t.kind = 'gas'
     join ledger_entry e on e.transaction_id = t.id and e.amount_micro > 0
     where p.payer = $1`,
    [buyer.address.toLowerCase()],
  )
  expect(rows).toHaveLength(1)
  expect(rows[0]?.gwei).toBeGreaterThan(0n)
})

test('a refusal that comes after recovery has taken the payment over is not answered 402', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  whileSettling = async () => {
    await till.db.owner.query(`update payment set state = 'unknown' where payer = $1 and state = 'settling'`, [
      buyer.address.toLowerCase(),
    ])
  }
  const response = await send(at('/test/small'), payload)
  expect(await statesOf(till, buyer.address)).toEqual(['unknown'])
  expect(response.status).toBe(503)
})

test('many payments that nobody can resolve yet do not keep recovery from one that settled', async () => {
  const buyer = await till.newBuyer()
  await till.db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block)
     select 'exact', 1, 'pay_old' || n, 'unknown', 'eip155:8453', 'eip155:8453/erc20:' || $1, $2, sha256(n::text::bytea), $3, 'pay_to', 1,
       extract(epoch from now())::bigint + 3600, 'test.small', '', sha256('x'), false, 0, now(), now() - interval '1 minute', 0
     from generate_series(1, 600) n`,
    [till.base.usdc, `0x${'77'.repeat(20)}`, till.node.config.payTo],
  )
  shop.commitFails = new Error('the shop is broken for a moment')
  expect((await send(at('/test/small'), await signPayment(buyer, await quote(at('/test/small'))))).status).toBe(503)
  await expect.poll(() => statesOf(till, buyer.address)).toEqual(['unknown'])
  shop.commitFails = undefined
  const other = await till.startAnother({ jobs: true, shops: [shop.open] })
  await other.stop()
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  await till.db.owner.query(`delete from payment where id like 'pay_old%'`)
})
