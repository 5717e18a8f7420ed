import type { PrivateKeyAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import {
  type AssayClientOptions,
  createAssayClient,
  type PayableNetwork,
  readDemoNetworks,
  topUpCredit,
} from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { cheapPath, createCheapShop } from './harness/cheap-shop.ts'
import { paymentRows, spentOnChain } from './harness/invariants.ts'
import { approvePermit2 } from './harness/permit2-client.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({
  ...{ ownShops: 'till', shops: [createCheapShop().open] },
  channels: { depositMicroMin: 6_000n },
})
let networks: readonly PayableNetwork[]
beforeAll(async () => {
  networks = await readDemoNetworks(till.node.url)
})

const echo = (message: string) => `${till.node.url}${echoPath}?message=${message}`
const meter = (text: string) => `${till.node.url}/v1/sandbox/meter?text=${text}`
const cheap = (n: string | number) => `${till.node.url}${cheapPath}?n=${n}`
const topUpUrl = () => `${till.node.url}/v1/credit/topup?usd=1`
const clientOf = (account: PrivateKeyAccount, options: Partial<AssayClientOptions> = {}) =>
  createAssayClient({ account, baseUrl: till.node.url, maxPerCallUsd: '5', networks, ...options })

async function approve(account: PrivateKeyAccount): Promise<PrivateKeyAccount> {
  await till.base.control.fund(account.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, account, { to: till.base.usdc, data: approvePermit2(10_000_000n) })
  return account
}

const spent = (account: PrivateKeyAccount) => spentOnChain(till, 'base', account.address)

describe('the SDK', () => {
  test('pays by exact unless something is better, and says why', async () => {
    const buyer = await till.newBuyer()
    const client = clientOf(buyer, { paymentMethods: { expectedCalls: 500 } })
    const outcome = await client.quote(echo('plain'))
    if (outcome.status !== 'priced') throw new Error('no price')
    expect(outcome.quote).toMatchObject({
      paymentMethod: 'exact',
      why: expect.stringContaining('no more than that is at risk'),
      advice: expect.stringContaining('for 500 calls, pay in 0.5 USD once'),
    })
    const { payment } = await client.fetch(echo('plain'), {}, { agreed: outcome.quote })
    expect(payment).toMatchObject({ status: 'settled', amountMicro: '1000' })
  })

  test('pays a metered answer by what was used where the wallet has approved Permit2', async () => {
    const buyer = await approve(await till.newBuyer())
    const client = clientOf(buyer, { paymentMethods: { permit2: true } })
    const quoted = await client.quote(meter('hello'))
    expect(quoted).toMatchObject({
      quote: { paymentMethod: 'upto', priceUsd: '0.02', why: expect.stringContaining('metered') },
    })
    const bought = await client.fetch(meter('hello'))
    expect(bought).toMatchObject({
      payment: { status: 'settled', amountMicro: '500' },
      receipt: { status: 'verified' },
      purchase: { paymentMethod: 'upto', amountMicro: '20000' },
    })
    const nothing = await client.fetch(meter(''))
    expect(nothing.payment).toMatchObject({ status: 'settled', amountMicro: '0', transaction: '' })
    expect(await spent(buyer)).toBe(500n)
    // The same permit again: the answer that was bought, and no more money.
    const { purchase } = bought
    if (!purchase) throw new Error('no purchase')
    const again = await client.fetch(meter('hello'), {}, { purchase })
    expect([again.response.status, await spent(buyer)]).toEqual([200, 500n])
  })

  test('pays by Permit2 where it is asked to', async () => {
    const buyer = await approve(await till.newBuyer())
    const { payment, purchase } = await clientOf(buyer, { paymentMethods: { only: 'permit2' } }).fetch(topUpUrl())
    expect([payment.status, purchase?.paymentMethod]).toEqual(['settled', 'permit2'])
    expect(await spent(buyer)).toBe(1_000_000n)
  })

  test('pays by MPP with a challenge that says what the 402 says, and reads the receipt of that dialect', async () => {
    const buyer = await till.newBuyer()
    const client = clientOf(buyer, { paymentMethods: { only: 'mpp' } })
    const bought = await client.fetch(echo('mpp'))
    expect(bought).toMatchObject({
      payment: { status: 'settled', amountMicro: '1000', transaction: expect.stringMatching(/^0x/) },
      receipt: { status: 'verified' },
    })
    expect(await spent(buyer)).toBe(1_000n)
  })

  test('signs no challenge that asks for other money than the signed 402', async () => {
    const buyer = await till.newBuyer()
    const before = (await paymentRows(till)).length
    const dearer = async (request: Request): Promise<Response> => {
      const response = await fetch(request)
      const header = response.headers.get('www-authenticate') ?? ''
      const headers = new Headers(response.headers)
      headers.set(
        'www-authenticate',
        header.replace(/request="([^"]*)"/g, (_, text: string) => {
          const asked = JSON.parse(Buffer.from(text, 'base64url').toString())
          return `request="${Buffer.from(JSON.stringify({ ...asked, amount: '4000000' })).toString('base64url')}"`
        }),
      )
      return new Response(await response.arrayBuffer(), { status: response.status, headers })
    }
    const client = clientOf(buyer, { paymentMethods: { only: 'mpp' }, fetch: dearer })
    await expect(client.fetch(echo('dearer'))).rejects.toMatchObject({ code: 'no_acceptable_offer' })
    expect((await paymentRows(till)).length).toBe(before)
  })

  test('draws on credit where it covers the price, and pays on chain where it does not', async () => {
    const buyer = await till.newBuyer()
    const client = clientOf(buyer, { credit: 'prefer' })
    expect(await client.quote(echo('poor'))).toMatchObject({ quote: { paymentMethod: 'exact' } })
    await topUpCredit(clientOf(buyer), { node: till.node.url, usd: '1' })
    const rich = clientOf(buyer, { credit: 'prefer' })
    expect(await rich.quote(echo('rich'))).toMatchObject({
      quote: { paymentMethod: 'credit', why: expect.stringContaining('the credit of 1 USD covers it') },
    })
    expect((await rich.fetch(echo('rich'))).payment).toMatchObject({ status: 'drawn', leftMicro: '999000' })
  })

  test('pays many small calls through a channel where a deposit is allowed, one after the other', async () => {
    const buyer = await till.newBuyer()
    const paymentMethods = { depositUsd: '0.006', expectedCalls: 500 }
    expect(await clientOf(buyer, { paymentMethods: { expectedCalls: 500 } }).quote(cheap(0))).toMatchObject({
      quote: { paymentMethod: 'exact' },
    })
    const client = clientOf(buyer, { paymentMethods })
    expect(await client.quote(cheap(0))).toMatchObject({
      quote: { paymentMethod: 'batch-settlement', why: expect.stringContaining('one deposit into your own channel') },
    })
    const first = await client.fetch(cheap(0))
    expect(first).toMatchObject({
      payment: { status: 'drawn', amountMicro: '1500', leftMicro: '4500' },
      verified: { status: 'verified' },
    })
    const side = await Promise.all([1, 2, 3].map((n) => client.fetch(cheap(n))))
    expect(side.map(({ payment }) => payment.status)).toEqual(['drawn', 'drawn', 'drawn'])
    expect(await spent(buyer)).toBe(6_000n)
    // The channel is used up: the next call pays in again.
    expect((await client.fetch(cheap(4))).payment).toMatchObject({ leftMicro: '4500' })
    expect(await spent(buyer)).toBe(12_000n)
    // Another process of the same wallet knows nothing of it, and learns it from the seller.
    const other = clientOf(buyer, { paymentMethods })
    expect((await other.fetch(cheap(5))).payment).toMatchObject({ status: 'drawn', leftMicro: '3000' })
    expect((await client.fetch(cheap(6))).payment).toMatchObject({ status: 'drawn', leftMicro: '1500' })
    // The same voucher again: the answer that was bought, and nothing more is charged.
    const { purchase } = first
    if (!purchase) throw new Error('no purchase')
    const again = await clientOf(buyer, { paymentMethods }).fetch(cheap(0), {}, { purchase })
    expect(again.response.status).toBe(200)
    expect(await again.response.text()).toBe(await first.response.text())
    expect(await spent(buyer)).toBe(12_000n)
  })

  test('counts no higher than its own signatures prove', async () => {
    const buyer = await till.newBuyer()
    const paymentMethods = { only: 'batch-settlement', depositUsd: '0.1' } as const
    expect((await clientOf(buyer, { paymentMethods }).fetch(cheap('a'))).payment.status).toBe('drawn')
    const lying = async (request: Request): Promise<Response> => {
      const response = await fetch(request)
      const headers = new Headers(response.headers)
      const required = headers.get('payment-required')
      if (response.status !== 402 || required === null) return response
      const value = JSON.parse(Buffer.from(required, 'base64').toString())
      for (const { extra } of value.accepts)
        if (extra.channelState) {
          extra.channelState.chargedCumulativeAmount = '90000'
          extra.voucherState.signedMaxClaimable = '90000'
        }
      headers.set('payment-required', Buffer.from(JSON.stringify(value)).toString('base64'))
      return new Response(await response.arrayBuffer(), { status: response.status, headers })
    }
    const client = clientOf(buyer, { paymentMethods, fetch: lying, verify: 'report' })
    expect((await client.fetch(cheap('b'))).payment.status).toBe('refused')
    expect((await clientOf(buyer, { paymentMethods }).fetch(cheap('c'))).payment).toMatchObject({ leftMicro: '97000' })
  })

  test('refuses where the payment method that was asked for is not possible', async () => {
    const buyer = await till.newBuyer()
    for (const only of ['credit', 'upto', 'permit2', 'batch-settlement'] as const)
      await expect(clientOf(buyer, { paymentMethods: { only } }).fetch(echo('none')), only).rejects.toMatchObject({
        code: 'no_acceptable_offer',
      })
    expect(await spent(buyer)).toBe(0n)
  })
})

describe('`assay buy --scheme`', () => {
  const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
  const assay = async (...args: string[]) => {
    const terminal = createTestTerminal({})
    const code = await runCli(args, terminal)
    return { code, out: terminal.stdout(), err: terminal.stderr() }
  }
  const buy = async (url: string, ...args: string[]) => {
    const { code, out, err } = await assay('buy', url, '--demo', '--json', ...args)
    return { code, err, ...(code === 0 ? { document: JSON.parse(out) } : {}) }
  }

  test.each([
    ['exact', echo, { status: 'settled', amount_micro: '1000' }],
    ['mpp', echo, { status: 'settled', amount_micro: '1000' }],
    ['permit2', topUpUrl, { status: 'settled', amount_micro: '1000000' }],
    ['upto', meter, { status: 'settled', amount_micro: '500' }],
    ['credit', echo, { status: 'drawn', amount_micro: '1000' }],
    ['batch-settlement', cheap, { status: 'drawn', amount_micro: '1500' }],
  ] as const)('%s', async (scheme, url, payment) => {
    if (scheme === 'permit2') await approve(buyer)
    const bought = await buy(url('hello'), '--scheme', scheme, '--deposit', '0.1')
    expect(bought.err).toContain(`payment method  ${scheme}: `)
    expect(bought).toMatchObject({ code: 0, document: { payment } })
  })

  test('without it the reason and the advice are shown before anything is signed', async () => {
    const { err } = await assay('buy', meter('hi'), '--demo', '--dry-run', '--calls', '100')
    expect(err).toContain('payment method  exact: one signature for 0.02 USD')
    expect(err).toContain('approve Permit2 once')
    const unknown = await assay('buy', echo('x'), '--demo', '--scheme', 'cheque')
    expect(unknown.code).toBe(2)
    expect(unknown.err).toContain('One of exact, permit2, upto, batch-settlement, mpp, credit')
  })
})
