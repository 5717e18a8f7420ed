import { expect, test } from 'vitest'
import { expectAnswer, nonceOf, releasedPayment, useAdversaryTill } from './harness/adversary-till.ts'
import { send } from './harness/till-fixture.ts'
import { cancelAuthorization } from './harness/wallets.ts'

/** Payments whose facts change between the moment they are read and the moment something is concluded from them. */
const small = '/test/small'
/** Runs once, after the chain was asked whether a key is used at a named block, and before the answer is acted on. */
let afterCheck: (() => Promise<unknown>) | undefined

const given = await useAdversaryTill({
  chain: (real) => ({
    ...real,
    authorizationUsed: async (payer, nonce, at) => {
      const used = await real.authorizationUsed(payer, nonce, at)
      const work = typeof at === 'bigint' ? afterCheck : undefined
      if (work) afterCheck = undefined
      await work?.()
      return used
    },
  }),
})

const isFinal = async (payer: string) => {
  const { rows } = await given.till.db.owner.query<{ final: boolean }>(`select final from payment where payer = $1`, [
    payer.toLowerCase(),
  ])
  return rows.map(({ final }) => final)
}

test('a transfer that a reorganisation took and a cancellation replaced counts as nothing: its payer is asked to pay again', async () => {
  const { till } = given
  till.base.control.setFinalityLag(20)
  const buyer = await till.newBuyer()
  await given.pass(1)
  const payload = await given.sign(buyer, small)
  expect((await send(given.at(small), payload)).status).toBe(200)
  await given.pass(0)
  await till.base.control.reorg(2, { transactions: 'drop' })
  await cancelAuthorization(till.base, buyer, nonceOf(payload))
  till.base.control.setFinalityLag(0)
  for (let round = 0; round < 2; round += 1) await given.work()
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed' }])
  expect(await isFinal(buyer.address)).toEqual([true])
  await expectAnswer(await send(given.at(small), payload), 402, 'payment_failed')
  expect(await given.creditOf(buyer.address)).toBe(0n)
})

test('a released payment that is claimed again while it is watched is not marked final', async () => {
  const { till } = given
  const { buyer } = await releasedPayment(given, small)
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'released' }])
  await given.pass(120)
  const move = (from: string, to: string) =>
    till.db.owner.query(`update payment set state = $3 where payer = $1 and state = $2`, [
      buyer.address.toLowerCase(),
      from,
      to,
    ])
  afterCheck = () => move('released', 'claimed')
  await given.work('payments.recover')
  expect(await isFinal(buyer.address)).toEqual([false])
  await move('claimed', 'released')
  await given.work('payments.recover')
  expect(await isFinal(buyer.address)).toEqual([true])
})
