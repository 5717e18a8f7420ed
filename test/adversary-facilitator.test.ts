import type { PrivateKeyAccount } from 'viem/accounts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, test } from 'vitest'
import { alarmsRaised, expectAnswer, lower, useAdversaryTill } from './harness/adversary-till.ts'
import { spentOnChain } from './harness/invariants.ts'
import { type Payload, send } from './harness/till-fixture.ts'
import {
  delegateAccount,
  deploySwitchWallet,
  setBlacklisted,
  setSignatureValid,
  submitAuthorization,
  transferPlainly,
} from './harness/wallets.ts'

/** A facilitator's word settles nothing, and a payer with code decides for itself. */
const small = '/test/small'
const smallMicro = 1_500n

const given = await useAdversaryTill()
beforeEach(() => {
  given.shop.whilePreparing = undefined
  given.till.base.control.setFinalityLag(0)
})

const spent = (buyer: PrivateKeyAccount) => spentOnChain(given.till, 'base', buyer.address)
const newBuyerWithGas = async () => {
  const buyer = await given.till.newBuyer()
  await given.till.base.control.fund(lower(buyer), { microUsdc: 0n })
  return buyer
}

test.each(['claims_foreign_transaction', 'claims_reverted_transaction'] as const)(
  'a facilitator that %s is contradicted: 503 and an alarm, and 402 only once the authorization has expired',
  async (fault) => {
    const buyer = await given.till.newBuyer()
    const payload = await given.sign(buyer, small)
    expect((await given.buy(await given.till.newBuyer(), small)).status).toBe(200)
    given.faults.push(fault)
    const raised = await alarmsRaised(given, async () =>
      expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown'),
    )
    expect(raised).toEqual({ settlement_contradicted: 1 })
    await given.work()
    await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
    await given.pass(120)
    await given.work()
    expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed', reason: 'authorization_expired' }])
    await expectAnswer(await send(given.at(small), payload), 402, 'payment_invalid')
    expect(await spent(buyer)).toBe(0n)
  },
)

test('a refusal that our own simulation does not confirm is 503 until the authorization has expired unused', async () => {
  const buyer = await given.till.newBuyer()
  const payload = await given.sign(buyer, small)
  given.faults.push('refuses_for_funds')
  await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
  await given.work()
  await expectAnswer(await send(given.at(small), payload), 503, 'settlement_unknown')
  // Past the expiry at the head, but not by the margin.
  given.till.base.control.setFinalityLag(50)
  await given.pass(70)
  await given.work('payments.recover')
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'unknown' }])
  await given.pass(60)
  await given.work('payments.recover')
  await expectAnswer(await send(given.at(small), payload), 402, 'payment_invalid')
  expect(await spent(buyer)).toBe(0n)
})

const lateFaults = [
  'refuses_and_settles_late',
  'locks_us_out_and_settles_late',
  'settles_late',
  'refuses_after_sending',
] as const

test('a payment that is settled after the facilitator refused it, before our 402, buys what was asked for', async () => {
  for (const fault of lateFaults) {
    const buyer = await given.till.newBuyer()
    const payload = await given.sign(buyer, small, { identifier: `late_purchase_${fault}` })
    given.faults.push(fault)
    const first = await send(given.at(small), payload)
    expect(first.status, fault).toBe(fault === 'refuses_after_sending' ? 200 : 503)
    await given.settleLate()
    await given.work()
    expect(await given.paymentsOf(buyer.address), fault).toMatchObject([{ state: 'served' }])
    expect((await send(given.at(small), payload)).status, fault).toBe(200)
    expect(await spent(buyer), fault).toBe(smallMicro)
  }
})

/** While it settles, the payer makes the transfer impossible: 402 at once, for our own simulation agrees. */
async function refusedAtOnce(buyer: PrivateKeyAccount, prevent: () => Promise<unknown>): Promise<Payload> {
  const payload = await given.sign(buyer, small, {
    validBefore: BigInt(given.till.base.control.head().timestamp + 80),
  })
  given.whileSettling(prevent)
  await expectAnswer(await send(given.at(small), payload), 402, 'payment_failed')
  return payload
}

test('a transfer carried after our 402 is credit and one alarm', async () => {
  const { base } = given.till
  const broke = await newBuyerWithGas()
  const friend = privateKeyToAccount(generatePrivateKey())
  const unfunded = await refusedAtOnce(broke, () => transferPlainly(base, broke, lower(friend), 10_000_000n))
  await base.control.fund(lower(broke), { microUsdc: 10_000_000n })

  const blocked = await given.till.newBuyer()
  const refused = await refusedAtOnce(blocked, () => setBlacklisted(base, lower(blocked), true))
  await setBlacklisted(base, lower(blocked), false)

  for (const [buyer, payload] of [
    [broke, unfunded],
    [blocked, refused],
  ] as const) {
    await submitAuthorization(base, payload)
    const raised = await alarmsRaised(given, async () => {
      await given.work()
      await given.work()
    })
    expect(raised).toEqual({ paid_after_refusal: 1 })
    expect(await given.creditOf(buyer.address)).toBe(smallMicro)
    await expectAnswer(await send(given.at(small), payload), 409, 'payment_credited')
  }
})

test('a payer that the facilitator screens out is answered 403, never 402', async () => {
  const buyer = await given.till.newBuyer()
  const payload = await given.sign(buyer, small)
  given.faults.push('refuses_for_screening')
  const answer = await expectAnswer(await send(given.at(small), payload), 403, 'payer_refused')
  expect(answer.status_url).toContain('/v1/payments/')
  await given.pass(180)
  await given.work()
  expect(await given.paymentsOf(buyer.address)).toMatchObject([{ state: 'failed' }])
})

test('a facilitator that settles twice charges once; one that settles for another pays that one', async () => {
  const twice = await given.till.newBuyer()
  given.faults.push('settles_twice')
  expect((await given.buy(twice, small)).status).toBe(200)
  expect(await spent(twice)).toBe(smallMicro)

  const waiting = await given.till.newBuyer()
  const named = await given.till.newBuyer()
  const [first, second] = [await given.sign(waiting, small), await given.sign(named, small)]
  given.faults.push('settles_late', 'settles_for_another')
  await expectAnswer(await send(given.at(small), first), 503, 'settlement_unknown')
  await expectAnswer(await send(given.at(small), second), 503, 'settlement_unknown')
  await given.work()
  expect(await given.paymentsOf(waiting.address)).toMatchObject([{ state: 'served' }])
  expect(await given.paymentsOf(named.address)).toMatchObject([{ state: 'unknown' }])
  expect([await spent(waiting), await spent(named)]).toEqual([smallMicro, 0n])
})

/** A payment in the name of a contract: the signature is checked by nobody but its code. */
const asContract = (address: `0x${string}`) =>
  ({ ...privateKeyToAccount(generatePrivateKey()), address }) as PrivateKeyAccount

test('a contract that stops accepting a signature between prepare and settle is charged nothing and sold nothing', async () => {
  const { base } = given.till
  const wallet = await deploySwitchWallet(base)
  await base.control.fund(wallet, { microUsdc: 10_000_000n })
  const payload = await given.sign(asContract(wallet), small)
  given.shop.whilePreparing = () => setSignatureValid(base, wallet, false)
  let settled = false
  given.whileSettling(async () => {
    settled = true
  })
  await expectAnswer(await send(given.at(small), payload), 402, 'payment_invalid')
  given.whileSettling(async () => {})
  expect(settled).toBe(false)
  expect(await given.paymentsOf(wallet)).toMatchObject([{ state: 'released' }])
})

test('a payer delegated by EIP-7702 is verified by its code, not by its key', async () => {
  const { base } = given.till
  const buyer = await newBuyerWithGas()
  await delegateAccount(base, buyer, await deploySwitchWallet(base))
  const prepared = given.shop.prepared
  await expectAnswer(await send(given.at(small), await given.sign(buyer, small)), 402, 'payment_invalid')
  expect(given.shop.prepared).toBe(prepared)
  await setSignatureValid(base, lower(buyer), true)
  expect((await given.buy(buyer, small)).status).toBe(200)
  expect(await spent(buyer)).toBe(smallMicro)
})
