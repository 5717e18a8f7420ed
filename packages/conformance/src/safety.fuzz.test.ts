import { createServer } from 'node:http'
import { base, baseSepolia } from '@assay/protocol/networks'
import { parsePaymentRequired } from '@assay/sdk'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { copiesMax } from './cases/once.ts'
import { checkCommand } from './check-command.ts'
import { isRealMoney } from './money.ts'
import { BudgetExceeded, createBudget } from './seller/budget.ts'
import { type MppChallenge, signCredential } from './seller/mpp.ts'
import { createPace } from './seller/pace.ts'
import { signPayment } from './seller/sign-payment.ts'
import { type Permit2Offer, permit2Offers, signPermit } from './seller/sign-permit.ts'
import { type ChannelOffer, channelOffer, newChannel } from './seller/sign-voucher.ts'
import { systemTime } from './time.ts'

const [account, other] = [1, 2].map((key) => privateKeyToAccount(`0x${String(key).padStart(64, '0')}`))
if (!account || !other) throw new Error('two accounts')
const header = Buffer.from(
  JSON.stringify({
    ...{ x402Version: 2, error: 'Payment required', resource: { url: 'https://seller.example/paid' }, extensions: {} },
    accepts: [
      {
        ...{ scheme: 'exact', network: base.caip2, amount: '1000', asset: base.usdc.address, maxTimeoutSeconds: 600 },
        ...{ payTo: other.address, extra: { name: 'USD Coin', version: '2' } },
      },
      {
        ...{ scheme: 'upto', network: base.caip2, amount: '1000', asset: base.usdc.address, maxTimeoutSeconds: 600 },
        ...{ payTo: other.address, extra: { name: 'USD Coin', version: '2', facilitatorAddress: other.address } },
      },
      {
        ...{ scheme: 'batch-settlement', network: base.caip2, amount: '1000', asset: base.usdc.address },
        ...{ payTo: other.address, maxTimeoutSeconds: 600 },
        extra: { name: 'USD Coin', version: '2', receiverAuthorizer: other.address, withdrawDelay: 86_400 },
      },
    ],
  }),
).toString('base64')
const required = parsePaymentRequired(header)
const [offer] = required.accepts
if (!offer) throw new Error('one offer')
const [upto] = permit2Offers(required, base.caip2) as [Permit2Offer]
const byChannel = channelOffer(required, base.caip2) as ChannelOffer
const challengeFor = (seconds: number): MppChallenge => ({
  ...{ id: 'one', realm: 'seller.example', method: 'evm', intent: 'charge' },
  expires: new Date(Date.now() + seconds * 1_000).toISOString(),
  request: Buffer.from(
    JSON.stringify({
      ...{ amount: '1000', currency: base.usdc.address, recipient: other.address },
      methodDetails: { chainId: base.chainId },
    }),
  ).toString('base64url'),
})

test('whatever is signed, by whichever wallet: never more than the cap, never for longer than a minute, all reported', async () => {
  const wish = fc.record({
    value: fc.bigInt({ min: 0n, max: 5_000n }),
    isOther: fc.boolean(),
    seconds: fc.integer({ min: -10, max: 200 }),
    how: fc.constantFrom('x402' as const, 'mpp' as const, 'permit' as const, 'deposit' as const),
  })
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: 20_000n }), fc.array(wish, { maxLength: 12 }), async (cap, wishes) => {
      const budget = createBudget(cap)
      let made = 0
      for (const { value, isOther, seconds, how } of wishes) {
        const validBefore = String(Math.floor(Date.now() / 1000) + seconds)
        const amount = value.toString()
        const by = isOther ? { account: other } : {}
        const authorization = { value: amount, validBefore }
        const deps = { account, required, offer, budget, case: 'x', time: systemTime }
        const sign = {
          x402: () => signPayment(deps, { ...by, authorization }),
          mpp: () => signCredential(deps, challengeFor(seconds), { ...by, authorization }),
          deposit: () => newChannel({ ...deps, offer: byChannel }).deposit(1, { amount: value, validBefore }),
          permit: () => signPermit({ ...deps, offer: upto }, { ...by, amount, deadline: validBefore }),
        }
        const signed = await sign[how]().catch((error: unknown) => error)
        if (typeof signed === 'string') made += 1
        else expect(signed instanceof BudgetExceeded || seconds > 58).toBe(true)
      }
      // A voucher takes no more than its deposit.
      const signatures = budget.signatures().filter(({ kind }) => kind !== 'voucher')
      expect(signatures).toHaveLength(made)
      expect(signatures.reduce((sum, one) => sum + BigInt(one.value), 0n) <= cap).toBe(true)
      const latest = Math.floor(Date.now() / 1000) + 60
      for (const one of signatures) expect(Number(one.validBefore)).toBeLessThanOrEqual(latest)
    }),
    { numRuns: 25 },
  )
})

test('without a wish the window is a minute at most, whatever the seller allows', async () => {
  const budget = createBudget(23_000n)
  const deps = { account, required, offer, budget, case: 'x', time: systemTime }
  await signPayment(deps)
  await signPermit({ ...deps, offer: upto })
  await signCredential(deps, challengeFor(600))
  const channel = newChannel({ ...deps, offer: byChannel })
  await channel.deposit(2)
  await expect(channel.deposit(1)).rejects.toThrow(BudgetExceeded)
  const kinds = ['authorization', 'permit', 'authorization', 'deposit', 'voucher']
  expect(budget.signatures().map(({ kind }) => kind)).toEqual(kinds)
  for (const { kind, validBefore } of budget.signatures())
    if (kind === 'voucher') expect(validBefore).toBe('')
    else expect(Number(validBefore)).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 60)
})

test('elsewhere at most 20 requests in any second; here without waiting', async () => {
  let now = 0
  const time = {
    nowMs: () => now,
    waitUntil: async (ms: number) => {
      now = ms
    },
  }
  const sent: number[] = []
  const pace = createPace(false, time)
  for (let count = 0; count < 200; count += 1) {
    await pace()
    sent.push(now)
  }
  for (const at of sent) expect(sent.filter((one) => one >= at && one < at + 1_000).length).toBeLessThanOrEqual(20)
  const before = now
  for (let count = 0; count < 50; count += 1) await createPace(true, time)()
  expect(now).toBe(before)
  expect(copiesMax).toBeLessThanOrEqual(50)
})

test('every network that is not known as a test network has real money', () => {
  const token = `0x${'12'.repeat(20)}`
  const local = 'http://127.0.0.1:8545'
  expect(isRealMoney({ network: baseSepolia.caip2, asset: token }, undefined)).toBe(false)
  expect(isRealMoney({ network: base.caip2, asset: token }, undefined)).toBe(true)
  expect(isRealMoney({ network: 'eip155:59144', asset: token }, 'https://rpc.example')).toBe(true)
  expect(isRealMoney({ network: base.caip2, asset: token }, local)).toBe(false)
  expect(isRealMoney({ network: base.caip2, asset: base.usdc.address }, local)).toBe(true)
})

/** Serves every request that has anything as a payment. */
const server = createServer((request, response) => {
  const isGiven = request.headers['payment-signature'] !== undefined && request.url === '/gives'
  if (isGiven) response.writeHead(200, { 'cache-control': 'private' }).end('answer')
  else response.writeHead(402, { 'payment-required': header, 'cache-control': 'no-store' }).end()
})
const { url: origin, close } = await onLoopback(server)
afterAll(close)

test('real money is signed only when its amount was typed again', async () => {
  const url = `${origin}/paid`
  for (const realMoney of [undefined, '', '2', 'yes'])
    await expect(checkCommand({ url, account, cap: '1', realMoney, only: 'receipt' })).rejects.toThrow('--real-money 1')
  const { report } = await checkCommand({ url, account, cap: '1', realMoney: '1.00', only: 'receipt' })
  expect(report.signatures.map(({ value }) => value)).toEqual(['1000'])
})

test('says what is missing: a seller that answers, a price, a facilitator', async () => {
  const said = async (input: Parameters<typeof checkCommand>[0]) => String(await checkCommand(input).catch(String))
  expect(await said({ url: 'http://127.0.0.1:9/' })).toContain('did not answer. Start the seller first')
  expect(await said({ url: `${origin}/gives`, facilitator: 'http://127.0.0.1:9' })).toContain('no test facilitator at')
})

test('the exit code counts failures up to the level that was asked for', async () => {
  const input = { url: `${origin}/gives`, account, cap: '1', realMoney: '1', only: 'shared-caches,underpay' }
  const verdicts = async (level?: string) => {
    const { report, code } = await checkCommand({ ...input, level })
    return [code, ...report.cases.map(({ verdict }) => verdict)]
  }
  expect(await verdicts('L1')).toEqual([0, 'passed', 'failed'])
  expect(await verdicts('L2')).toEqual([0, 'passed', 'failed'])
  expect(await verdicts('L3')).toEqual([1, 'passed', 'failed'])
  expect(await verdicts()).toEqual([1, 'passed', 'failed'])
  await expect(checkCommand({ ...input, level: 'L9' })).rejects.toThrow('--level')
})
