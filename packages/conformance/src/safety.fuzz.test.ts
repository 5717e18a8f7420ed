import { createServer } from 'node:http'
import { base, baseSepolia } from '@assay/protocol/networks'
import { parsePaymentRequired } from '@assay/sdk'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { copiesMax } from './cases/once.ts'
import { judgeCommand } from './judge-command.ts'
import { isRealMoney } from './money.ts'
import { BudgetExceeded, createBudget } from './seller/budget.ts'
import { createPace } from './seller/pace.ts'
import { signPayment } from './seller/sign-payment.ts'

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
    ],
  }),
).toString('base64')
const required = parsePaymentRequired(header)
const [offer] = required.accepts
if (!offer) throw new Error('one offer')

test('whatever is signed, by whichever wallet: never more than the cap, never for longer than a minute, all reported', async () => {
  const wish = fc.record({
    value: fc.bigInt({ min: 0n, max: 5_000n }),
    isOther: fc.boolean(),
    seconds: fc.integer({ min: -10, max: 200 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: 20_000n }), fc.array(wish, { maxLength: 12 }), async (cap, wishes) => {
      const budget = createBudget(cap)
      let made = 0
      for (const { value, isOther, seconds } of wishes) {
        const validBefore = String(Math.floor(Date.now() / 1000) + seconds)
        const change = {
          authorization: { value: value.toString(), validBefore },
          ...(isOther ? { account: other } : {}),
        }
        const signed = await signPayment({ account, required, offer, budget, case: 'x' }, change).catch(
          (error: unknown) => error,
        )
        if (typeof signed === 'string') made += 1
        else expect(signed instanceof BudgetExceeded || seconds > 58).toBe(true)
      }
      const signatures = budget.signatures()
      expect(signatures).toHaveLength(made)
      expect(signatures.reduce((sum, one) => sum + BigInt(one.value), 0n) <= cap).toBe(true)
      const latest = Math.floor(Date.now() / 1000) + 60
      for (const one of signatures) expect(Number(one.validBefore)).toBeLessThanOrEqual(latest)
    }),
    { numRuns: 25 },
  )
})

test('without a wish the window is a minute at most, whatever the seller allows', async () => {
  const budget = createBudget(1_000n)
  await signPayment({ account, required, offer, budget, case: 'x' })
  const [one] = budget.signatures()
  expect(Number(one?.validBefore)).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 60)
})

test('elsewhere at most 20 requests in any second; here without waiting', async () => {
  let now = 0
  const time = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms
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

const server = createServer((_request, response) => {
  response.writeHead(402, { 'payment-required': header }).end()
})
const { url: origin, close } = await onLoopback(server)
afterAll(close)

test('real money is signed only when its amount was typed again', async () => {
  const url = `${origin}/paid`
  for (const realMoney of [undefined, '', '2', 'yes'])
    await expect(judgeCommand({ url, account, cap: '1', realMoney, only: 'receipt' })).rejects.toThrow('--real-money 1')
  const { report } = await judgeCommand({ url, account, cap: '1', realMoney: '1.00', only: 'receipt' })
  expect(report.signatures.map(({ value }) => value)).toEqual(['1000'])
})
