import { beforeEach, expect, test } from 'vitest'
import { alarmsRaised, expectAnswer, nonceOf, releasedPayment, useAdversaryTill } from './harness/adversary-till.ts'
import { send } from './harness/till-fixture.ts'
import { authorizationOf, cancelAuthorization, signAgain, submitAuthorization } from './harness/wallets.ts'

/** A nonce may be signed any number of times. Only the very transfer that was claimed pays a claim. */
const small = '/test/small'
const stranger = '0x00000000000000000000000000000000000000b0'

const given = await useAdversaryTill()
beforeEach(() => given.till.base.control.setFinalityLag(0))

const cursor = async () => {
  const { rows } = await given.till.db.owner.query<{ block: bigint }>(
    `select min(block_number) as block from reconcile_cursor where network = 'eip155:8453'`,
  )
  return Number(rows[0]?.block)
}

test('a nonce signed again for one micro and carried after the claim was released is credit of one micro', async () => {
  const { till } = given
  const { buyer, payload } = await releasedPayment(given, small)
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'released' }])
  await submitAuthorization(till.base, await signAgain(till.base, buyer, payload, { value: 1n }))
  await given.work()
  expect(await given.creditOf(buyer.address)).toBe(1n)
  const again = await expectAnswer(await send(given.at(small), payload), 409, 'payment_credited')
  expect(again.status_url).toContain('/v1/payments/')
  expect(await given.creditOf(buyer.address)).toBe(1n)
})

test('a nonce used for one micro while its payment settles ends that payment; sales and the cursor go on', async () => {
  const { till } = given
  till.base.control.setFinalityLag(30)
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small)
  given.whileSettling(async () =>
    submitAuthorization(till.base, await signAgain(till.base, buyer, payload, { value: 1n })),
  )
  const first = await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
  expect(first.status_url).toContain('/v1/payments/')
  await given.work()
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'unknown' }])
  expect((await given.buy(await till.newBuyer(), small)).status).toBe(200)

  // The block is final long before the authorization expires.
  till.base.control.setFinalityLag(0)
  const before = await cursor()
  const raised = await alarmsRaised(given, async () => {
    for (let round = 0; round < 3; round += 1) await given.work()
  })
  expect(raised).toEqual({})
  expect(await cursor()).toBeGreaterThan(before)
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed', reason: 'paid_otherwise' }])
  expect(await given.creditOf(buyer.address)).toBe(1n)
  const again = await expectAnswer(await send(given.at(small), payload), 409, 'payment_credited')
  expect(again.status_url).toContain('/v1/payments/')
  const { rows } = await till.db.owner.query(`select in_flight from payer_in_flight where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  expect(rows).toEqual([{ in_flight: 0 }])
})

test('a nonce used in a final block while its payment settles is answered at once: 409 if it reached us, else 402', async () => {
  const { till } = given
  const toUs = await till.newBuyer()
  const credited = await given.sign(toUs, small)
  const custody = till.node.config.networks[0]?.custody as `0x${string}`
  given.whileSettling(async () => {
    await submitAuthorization(till.base, await signAgain(till.base, toUs, credited, { to: custody, value: 1_499n }))
    await given.pass(1)
  })
  const answer = await expectAnswer(await send(given.at(small), credited), 409, 'payment_credited')
  expect(answer.status_url).toContain('/v1/payments/')
  await given.work()
  expect(await given.creditOf(toUs.address)).toBe(1_499n)

  const elsewhere = await till.newBuyer()
  const lost = await given.sign(elsewhere, small)
  given.whileSettling(async () => {
    await submitAuthorization(till.base, await signAgain(till.base, elsewhere, lost, { to: stranger }))
    await given.pass(1)
  })
  await expectAnswer(await send(given.at(small), lost), 402, 'payment_failed')
  await given.work()
  expect(await given.creditOf(elsewhere.address)).toBe(0n)
  expect(await given.paymentsOf(elsewhere.address)).toMatchObject([{ state: 'failed', reason: 'nonce_used_elsewhere' }])
})

test('a nonce used for nothing is 402, and one used for dust before any claim is 409 without a promise of credit', async () => {
  const { till } = given
  const settling = await till.newBuyer()
  const emptied = await given.sign(settling, small)
  given.whileSettling(async () => {
    await submitAuthorization(till.base, await signAgain(till.base, settling, emptied, { value: 0n }))
    await given.pass(1)
  })
  await expectAnswer(await send(given.at(small), emptied), 402, 'payment_failed')
  expect(await given.paymentsOf(settling.address)).toMatchObject([{ state: 'failed', reason: 'nonce_used_elsewhere' }])

  const before = await till.newBuyer()
  const nothing = await given.sign(before, small)
  await submitAuthorization(till.base, await signAgain(till.base, before, nothing, { value: 0n }))
  await given.pass(1)
  await expectAnswer(await send(given.at(small), nothing), 402, 'payment_failed')

  const dusty = await till.newBuyer()
  const dust = await given.sign(dusty, small)
  await submitAuthorization(till.base, await signAgain(till.base, dusty, dust, { value: 999n }))
  await given.work()
  await expectAnswer(await send(given.at(small), dust), 409, 'payment_nonce_reused')
  expect(await given.creditOf(dusty.address)).toBe(0n)
})

test('the exact transfer signed for a longer window pays the claim like the one that was shown', async () => {
  const { till } = given
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small)
  const { validBefore } = authorizationOf(payload).authorization
  given.whileSettling(async () =>
    submitAuthorization(till.base, await signAgain(till.base, buyer, payload, { validBefore: validBefore + 3_600n })),
  )
  expect((await send(given.at(small), payload)).status).toBe(200)
  await given.work()
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'served' }])
  expect(await given.creditOf(buyer.address)).toBe(0n)
})

test('a released payment is claimed again only with the very authorization that was claimed', async () => {
  const { buyer, payload } = await releasedPayment(given, small)
  const { validBefore, nonce } = authorizationOf(payload).authorization
  const other = await given.sign(buyer, small, { nonce, validBefore: validBefore + 10n })
  await expectAnswer(await send(given.at(small), other), 409, 'payment_nonce_reused')
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'released' }])
  expect((await send(given.at(small), payload)).status).toBe(200)
})

test('a cancellation that a reorg takes away does not fail the payment; carried after all, it is served', async () => {
  const { till, faults } = given
  // Older than the lag: on a younger chain no block is final, and nothing is decided whatever the rule.
  await till.base.control.mine(25)
  till.base.control.setFinalityLag(20)
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small, { identifier: 'cancelled_then_reorged_01' })
  faults.push('fails_before')
  await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
  await cancelAuthorization(till.base, buyer, nonceOf(payload))
  await given.work('payments.recover')
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'unknown' }])
  await till.base.control.reorg(2, { transactions: 'drop' })
  await submitAuthorization(till.base, payload)
  await given.work()
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'served' }])
  expect((await send(given.at(small), payload)).status).toBe(200)
})

test('a cancellation in a final block ends the payment with 402', async () => {
  const { till, faults } = given
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small)
  faults.push('fails_before')
  await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
  await cancelAuthorization(till.base, buyer, nonceOf(payload))
  await given.work('payments.recover')
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed', reason: 'authorization_canceled' }])
  await expectAnswer(await send(given.at(small), payload), 402, 'payment_failed')
})

test('a reorg that replaces our transfer by one micro of the same nonce takes the sale back and credits one micro', async () => {
  const { till } = given
  till.base.control.setFinalityLag(20)
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small)
  expect((await send(given.at(small), payload)).status).toBe(200)
  await given.pass(0)
  await till.base.control.reorg(2, { transactions: 'drop' })
  await submitAuthorization(till.base, await signAgain(till.base, buyer, payload, { value: 1n }))
  till.base.control.setFinalityLag(0)
  for (let round = 0; round < 2; round += 1)
    await given.work('payments.finality', 'payments.reconcile', 'payments.recover')
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed', reason: 'paid_otherwise' }])
  expect(await given.creditOf(buyer.address)).toBe(1n)
})

test('a released payment whose nonce was used otherwise is not watched for ever, however fast blocks become final', async () => {
  const { till } = given
  const { buyer, payload } = await releasedPayment(given, small)
  await submitAuthorization(till.base, await signAgain(till.base, buyer, payload, { value: 1n }))
  await given.pass(120)
  // Another block is final before each job.
  await given.work('payments.reconcile', 'payments.recover')
  const { rows } = await till.db.owner.query(`select state, final from payment where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  expect(rows).toEqual([{ state: 'released', final: true }])
})

test('an expired payment whose nonce moved other money to us is answered 409 and not asked to pay again', async () => {
  const { till, shop } = given
  const [failed, released] = [await till.newBuyer(), await till.newBuyer()]
  const settling = await given.sign(failed, small)
  given.whileSettling(async () =>
    submitAuthorization(till.base, await signAgain(till.base, failed, settling, { value: 1n })),
  )
  await send(given.at(small), settling)
  const prepared = await given.sign(released, small)
  shop.prepareFails = new Error('the answer cannot be made')
  await send(given.at(small), prepared)
  shop.prepareFails = undefined
  await submitAuthorization(till.base, await signAgain(till.base, released, prepared, { value: 1n }))
  await given.pass(120)
  await given.work('payments.reconcile', 'payments.recover')
  for (const payload of [settling, prepared]) {
    const answer = await expectAnswer(await send(given.at(small), payload), 409, 'payment_credited')
    expect(answer.status_url).toContain('/v1/payments/')
  }
  const forged = { ...settling, payload: { ...settling.payload, signature: `0x${'11'.repeat(65)}` } }
  await expectAnswer(await send(given.at(small), forged), 402, 'payment_invalid')
})
