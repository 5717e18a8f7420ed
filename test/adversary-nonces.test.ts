import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdversaryTill, alarmsRaised, expectAnswer, openAdversaryTill } from './adversary/adversary-till.ts'
import { carryAuthorization, signAgain } from './adversary/wallets.ts'
import { send } from './support/till-fixture.ts'

let given: AdversaryTill
beforeAll(async () => {
  given = await openAdversaryTill()
})
afterAll(async () => {
  await given.rest()
  await given.close()
})

const small = '/test/small'
const smallMicro = 1_500n

test('a nonce signed again for one micro, carried after the claim was released, is credit of one micro', async () => {
  const { till, shop } = given
  const buyer = await till.newBuyer()
  const payload = await given.sign(buyer, small)
  shop.prepareFails = new Error('the answer cannot be made')
  await send(given.at(small), payload)
  shop.prepareFails = undefined
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'released' }])
  await carryAuthorization(till.base, await signAgain(till.base, buyer, payload, { value: 1n }))
  await given.work()
  expect(await given.creditOf(buyer.address)).toBe(1n)
  await expectAnswer(await send(given.at(small), payload), 409, 'payment_credited')
})
