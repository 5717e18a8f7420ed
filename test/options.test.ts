import { randomBytes } from 'node:crypto'
import {
  type AssayClient,
  bidForOption,
  buyOption,
  closeOption,
  createAssayClient,
  followOptionTrades,
  listOptionClusters,
  listOptionSeries,
  listOptionSettlements,
  listOptionTrades,
  orderOption,
  quoteOption,
  readCredit,
  readDemo,
  readOptionDays,
  readOptionHoldings,
  readOptionSeries,
  readOptionVault,
  replayOptionPrice,
  replayOptionSettlement,
  signRequest,
  topUpCredit,
  withdrawOption,
  writeOption,
} from '@assay/sdk'
import { createPublicClient, erc20Abi, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProgram } from '../packages/cli/src/program.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { createTestDemand, testClusters } from '../packages/node/src/shops/options/exchange.fixture.ts'
import { openOptions, parseOptionSettings } from '../packages/node/src/shops/options/index.ts'
import type { PublishedBucket } from '../packages/node/src/shops/ports.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { demoUsdcAddress } from '../packages/till/src/devnet/accounts.ts'
import { type Clock, systemClock } from '../packages/till/src/kernel/clock.ts'
import { accounts, credit, debit, post, trialBalance } from '../packages/till/src/ledger/index.ts'
import { setPause } from '../packages/till/src/store/pauses.ts'
import { postJson } from './harness/post-json.ts'
import { buy, openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

/** Runs with the machine's clock and can be moved ahead: nobody waits for an expiry. */
let aheadMs = 0
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
const demand = createTestDemand(testClusters)
const bucketMs = 30_000

let till: TillFixture
let buyer: PrivateKeyAccount
let writer: PrivateKeyAccount
let publishedMs = 0

/** Demand for the first topic grows, the others stay: its index rises. */
function publishUntil(untilMs: number): void {
  const last = Math.floor(untilMs / bucketMs) * bucketMs
  const buckets: PublishedBucket[] = []
  for (let end = publishedMs === 0 ? last - 300 * bucketMs : publishedMs + bucketMs; end <= last; end += bucketMs)
    for (const { id } of testClusters)
      buckets.push({
        cluster: id,
        startsAtMs: end - bucketMs,
        endsAtMs: end,
        demand: 40,
        bonded: id === '52' && publishedMs !== 0 ? 36 : 30 + ((end / bucketMs) % 3),
        eventId: `test-${end}-${id}`,
        synthetic: true,
      })
  demand.publish(buckets)
  publishedMs = last
}

const client = async (account: PrivateKeyAccount, maxPerCallUsd = '8000'): Promise<AssayClient> => {
  const { networks } = await readDemo(till.node.url)
  return createAssayClient({
    account,
    baseUrl: till.node.url,
    networks,
    maxPerCallUsd,
    platform: { nowMs: clock.nowMs },
  })
}
const patience = { timeout: 60_000, interval: 250 }
const at = (path: string) => `${till.node.url}${path}`
const usdcOf = (account: PrivateKeyAccount) =>
  createPublicClient({ transport: http(till.base.url as string) }).readContract({
    address: demoUsdcAddress(8453),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account.address],
  })

beforeAll(async () => {
  publishUntil(clock.nowMs())
  till = await openTill({
    ownShops: 'till',
    clock,
    shops: [
      async (context) => {
        const shop = await openOptions(context, {
          settings: parseOptionSettings({ expiry_seconds: 600, agents_min: 10 }, true),
          demand,
          bondMs: 86_400_000,
          spendMicro: 0n,
        })
        if (!shop) throw new Error('the exchange is off')
        return shop
      },
    ],
  })
  buyer = await till.newBuyer(2_000_000_000n)
  writer = await till.newBuyer(20_000_000_000n)
}, 120_000)
afterAll(() => till?.close())

const nearest = async () => {
  const all = await listOptionSeries(await client(buyer), till.node.url, { cluster: '52', kind: 'call', buyable: true })
  // One that is not about to close while the test runs.
  const open = all.filter(({ last_trade_at }) => Date.parse(last_trade_at) - clock.nowMs() > 120_000)
  return open[0] as (typeof open)[number]
}

test('at the start series are listed and can be bought, in the premium band, marked as synthetic', async () => {
  const series = await listOptionSeries(await client(buyer), till.node.url, { buyable: true })
  expect(series.length).toBeGreaterThan(0)
  for (const one of series) {
    expect(Number(one.premium_usd)).toBeGreaterThanOrEqual(50)
    expect(Number(one.premium_usd)).toBeLessThanOrEqual(120)
    expect(BigInt(one.most_micro) <= 30n * 120_000_000n).toBe(true)
    expect(one.synthetic).toBe(true)
    expect(one.greeks).not.toBeNull()
    // The vault asks the recent price of the model, so it implies nearly its volatility.
    expect(Math.abs((one.implied_volatility ?? 9) / one.volatility - 1)).toBeLessThan(0.3)
  }
  const clusters = await listOptionClusters(await client(buyer), till.node.url)
  expect(clusters.find(({ cluster }) => cluster === '52')?.index).toMatch(/^\d+\.\d{4}$/)
  const detail = await readOptionSeries(await client(buyer), till.node.url, series[0]?.symbol as string)
  expect(detail.history.length).toBeGreaterThan(10)
  expect(Math.abs(detail.greeks?.delta ?? 2)).toBeLessThanOrEqual(1)
  expect(await replayOptionPrice(await client(buyer), till.node.url, detail.symbol)).toMatchObject({ differences: [] })
})

test('a bare probe is quoted the cheapest listed premium, and the challenge stays small', async () => {
  const response = await fetch(at('/v1/options/buy'), { method: 'POST' })
  expect(response.status).toBe(402)
  expect((response.headers.get('payment-required') ?? '').length).toBeLessThan(3_000)
  const offer = await quote(at('/v1/options/buy'), { method: 'POST' })
  const amount = BigInt(offer.accepts[0]?.amount ?? 0)
  expect(amount >= 50_000_000n && amount <= 120_000_000n).toBe(true)
  const write = await fetch(at('/v1/options/write'), { method: 'POST' })
  expect(write.status).toBe(402)
  expect((write.headers.get('payment-required') ?? '').length).toBeLessThan(3_000)
})

/** Wrong input has no price; whatever is signed for it is refused, and nothing is taken. */
async function refusalOf(account: PrivateKeyAccount, path: string, init: RequestInit): Promise<number> {
  const payment = await signPayment(account, await quote(at(path), { method: 'POST' }))
  const answer = await send(at(path), payment, init)
  await answer.body?.cancel()
  return answer.status
}

test('wrong input is said with the 402, and takes no money when it is paid', async () => {
  const { symbol } = await nearest()
  for (const [body, code] of [
    [{ symbol: 'TC-52-20200103-100-C' }, 'series_unknown'],
    [{ symbol, quantity: 0 }, 'input_invalid'],
    [{ symbol, quantity: 11 }, 'input_invalid'],
    [{ symbol, strike: 5 }, 'input_invalid'],
    [{ symbol, quote_id: `${'A'.repeat(40)}.${'A'.repeat(22)}` }, 'quote_stale'],
  ] as const) {
    const unpaid = await fetch(at('/v1/options/buy'), postJson(body))
    expect(unpaid.status).toBe(402)
    expect(await unpaid.json()).toMatchObject({ accepts: [], input_problem: { code } })
    expect(await refusalOf(buyer, '/v1/options/buy', postJson(body))).toBeGreaterThanOrEqual(400)
  }
  const dear = postJson({ symbol, premium_usd: '121' })
  const offered = await fetch(at('/v1/options/write'), dear)
  expect(await offered.json()).toMatchObject({ accepts: [], input_problem: { code: 'premium_out_of_band' } })
  expect(await refusalOf(writer, '/v1/options/write', dear)).toBeGreaterThanOrEqual(400)
  const other = await buy(buyer, at('/v1/options/buy'), {}, postJson({ symbol, wallet: writer.address }))
  expect(await other.json()).toMatchObject({ code: 'input_invalid' })
  // The cheapest premium, which a call without a body is quoted, may move between quote and payment.
  const empty = async () =>
    (await (await buy(buyer, at('/v1/options/buy'), {}, { method: 'POST' })).json()) as { code: string }
  await expect.poll(async () => (await empty()).code).toBe('input_invalid')
  expect(await usdcOf(buyer)).toBe(2_000_000_000n)
})

let held: string

test('a quote is bought at its price, once', async () => {
  const mine = await client(buyer)
  held = (await nearest()).symbol
  const quoted = await quoteOption(mine, till.node.url, { symbol: held })
  const body = { symbol: held, quote_id: quoted.quote_id }
  const offer = await quote(at('/v1/options/buy'), postJson(body))
  expect(offer.accepts[0]?.amount).toBe(quoted.premium_micro)
  const payload = await signPayment(buyer, offer)
  const first = await send(at('/v1/options/buy'), payload, postJson(body))
  expect(first.status).toBe(200)
  expect(await first.json()).toMatchObject({ symbol: held, quantity: 1, refundable: false, synthetic: true })
  const copy = await send(at('/v1/options/buy'), payload, postJson(body))
  expect(copy.status).toBe(409)
  const { positions } = await readOptionHoldings(mine, till.node.url, buyer.address)
  expect(positions.filter(({ state }) => state === 'open')).toHaveLength(1)
})

let closer: PrivateKeyAccount

test('three are bought at the quote, one is sold back at the bid that was shown, and exactly that is paid on the chain', async () => {
  closer = await till.newBuyer(500_000_000n)
  const mine = await client(closer)
  const quoted = await quoteOption(mine, till.node.url, { symbol: held, quantity: 3 })
  expect(quoted.seconds_left).toBeGreaterThan(50)
  const bought = await buyOption(mine, till.node.url, { symbol: held, quantity: 3, quote_id: quoted.quote_id })
  expect(bought.premium_micro).toBe(quoted.premium_micro)
  expect(await usdcOf(closer)).toBe(500_000_000n - BigInt(quoted.premium_micro))
  const position_id = bought.position_id
  const askBid = () => bidForOption(mine, till.node.url, { position_id, quantity: 1 })
  // Money that a reorg could still take is not paid out.
  const bid = await until('the premium is final', () => askBid().catch(() => undefined))
  expect(BigInt(bid.bid_micro) * 3n <= BigInt(quoted.premium_micro)).toBe(true)
  const before = await usdcOf(closer)
  const closed = await closeOption(mine, till.node.url, closer, { position_id, bid_id: bid.bid_id })
  expect(closed).toMatchObject({ quantity: 1, left: 2, paid_micro: bid.bid_micro, later_micro: '0' })
  await expect(closeOption(mine, till.node.url, closer, { position_id, bid_id: bid.bid_id })).rejects.toMatchObject({
    details: { problem: { code: 'quote_stale' } },
  })
  await expect.poll(async () => (await usdcOf(closer)) - before, patience).toBe(BigInt(bid.bid_micro))
  const { positions } = await readOptionHoldings(mine, till.node.url, closer.address)
  expect(positions).toMatchObject([{ state: 'open', quantity: 2, closed_quantity: 1, closed_micro: bid.bid_micro }])
  // At a limit that nobody pays they wait in the book, where everybody sees them, until they are withdrawn.
  const waits = await closeOption(mine, till.node.url, closer, { position_id, limit_usd: '120', rest: true })
  expect(waits).toMatchObject({ quantity: 0, left: 2, waiting: 2, paid_micro: '0' })
  const { resales } = await readOptionSeries(mine, till.node.url, held)
  expect(resales).toEqual([{ premium_micro: '120000000', quantity: 2, orders: 1 }])
  const withdrawn = await withdrawOption(mine, till.node.url, closer, { offer_id: position_id })
  expect(withdrawn).toMatchObject({ quantity: 2, left: 0, returned_micro: '0' })
  expect((await readOptionHoldings(mine, till.node.url, closer.address)).positions).toMatchObject([
    { quantity: 2, sell: null, expiry_profit_micro: expect.any(String) },
  ])
  for await (const { trade, streamed } of followOptionTrades(mine, till.node.url, { symbol: held, lastEventId: '0' })) {
    expect([trade.kind, trade.symbol, streamed.verified.status]).toEqual(['sale', held, 'verified'])
    break
  }
}, 180_000)

test('a writer offers for less than the vault, is bought from first, and withdraws what is left', async () => {
  const mine = await client(writer)
  const offer = await writeOption(mine, till.node.url, { symbol: held, premium_usd: '55', quantity: 2 })
  await expect
    .poll(async () => (await readOptionSeries(mine, till.node.url, held)).book, { timeout: 60_000, interval: 500 })
    .toEqual([{ premium_micro: '55000000', quantity: 2, offers: 1 }])
  const bought = await buyOption(await client(buyer), till.node.url, { symbol: held })
  expect(bought.premium_usd).toBe('55')
  const withdrawn = await withdrawOption(mine, till.node.url, writer, { offer_id: offer.offer_id })
  expect(withdrawn).toMatchObject({ quantity: 1, left: 0 })
  await expect(withdrawOption(mine, till.node.url, writer, { offer_id: offer.offer_id })).rejects.toMatchObject({
    details: { problem: { code: 'collateral_locked' } },
  })
  await expect(
    withdrawOption(await client(buyer), till.node.url, buyer, { offer_id: offer.offer_id }),
  ).rejects.toMatchObject({ details: { problem: { code: 'offer_unknown' } } })
}, 180_000)

test('an order above the vault is bought and gets back what it saved; a holder sells to one below, and the rest is withdrawn', async () => {
  const bidder = await till.newBuyer(500_000_000n)
  const mine = await client(bidder)
  const orders = async () => (await readOptionHoldings(mine, till.node.url, bidder.address)).orders
  const { order_id } = await orderOption(mine, till.node.url, { symbol: held, limit_usd: '120' })
  await expect.poll(async () => (await orders())[0]?.state, patience).toBe('closed')
  const [position] = (await readOptionHoldings(mine, till.node.url, bidder.address)).positions
  const premium = BigInt(position?.premium_micro ?? 0)
  await expect.poll(() => usdcOf(bidder), patience).toBe(500_000_000n - premium)
  const { data } = await listOptionTrades(mine, till.node.url, { symbol: held })
  expect(data[0]).toMatchObject({ kind: 'sale', position_id: position?.position_id, total_micro: premium.toString() })
  expect((await readOptionDays(mine, till.node.url, held)).days.at(-1)?.open_interest).toBeGreaterThan(0)
  const vault = await readOptionVault(mine, till.node.url)
  expect(vault.inventory.map(({ symbol }) => symbol)).toContain(held)
  const low = await orderOption(mine, till.node.url, { symbol: held, limit_usd: '50', quantity: 2 })
  await expect.poll(async () => (await readOptionSeries(mine, till.node.url, held)).bids.length, patience).toBe(1)
  await sellToOrder(position?.position_id)
  const back = await withdrawOption(mine, till.node.url, bidder, { offer_id: low.order_id })
  expect(back).toMatchObject({ returned_micro: '50000000', left: 0 })
  expect((await orders()).map(({ state }) => state)).toEqual(['closed', 'closed'])
  expect(order_id).not.toBe(low.order_id)
}, 180_000)

/** One of the closer's contracts goes to the order of 50 USD; the trade is streamed, and the price paid on the chain. */
async function sellToOrder(earlier: string | undefined): Promise<void> {
  const mine = await client(closer)
  const [{ position_id = '' } = {}] = (await readOptionHoldings(mine, till.node.url, closer.address)).positions
  const { data } = await listOptionTrades(mine, till.node.url, { symbol: held })
  const stream = await fetch(`${till.node.url}/v1/options/trades?symbol=${held}`, {
    headers: { accept: 'text/event-stream', 'last-event-id': data[0]?.trade_id ?? '' },
  })
  const before = await usdcOf(closer)
  const sold = await closeOption(mine, till.node.url, closer, { position_id, limit_usd: '50', quantity: 1 })
  expect(sold).toMatchObject({ quantity: 1, left: 1, paid_micro: '50000000', later_micro: '0' })
  await expect.poll(async () => (await usdcOf(closer)) - before, patience).toBe(50_000_000n)
  let text = ''
  for await (const chunk of (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes(`"kind":"close","position_id":"${position_id}"`)) break
  }
  expect(text).toContain('"kind":"sale"')
  expect(text).not.toContain(earlier)
}

test('contracts are written and bought from credit, without their own transaction', async () => {
  const { networks } = await readDemo(till.node.url)
  const withCredit = async (account: PrivateKeyAccount, times: number) => {
    const paying = await client(account)
    for (let n = 0; n < times; n += 1) await topUpCredit(paying, { node: till.node.url, usd: '1000' })
    const options = { account, baseUrl: till.node.url, networks, maxPerCallUsd: '8000', credit: 'prefer' as const }
    return createAssayClient({ ...options, platform: { nowMs: clock.nowMs } })
  }
  const [author, holder] = [await till.newBuyer(5_000_000_000n), await till.newBuyer(1_000_000_000n)]
  const writing = await withCredit(author, 4)
  const buying = await withCredit(holder, 1)
  const spent = async () => [await usdcOf(author), await usdcOf(holder)]
  const before = await spent()
  const { symbol } = await nearest()
  await writeOption(writing, till.node.url, { symbol, premium_usd: '51' })
  // What a reorg could still take is not sold: the draw counts once what it was paid in with is final.
  await expect
    .poll(async () => (await readOptionSeries(buying, till.node.url, symbol)).book[0]?.premium_micro, patience)
    .toBe('51000000')
  const bought = await buyOption(buying, till.node.url, { symbol })
  expect(bought).toMatchObject({ premium_usd: '51', refundable: false })
  const { positions } = await readOptionHoldings(buying, till.node.url, holder.address)
  expect(positions).toMatchObject([{ symbol, state: 'open' }])
  expect(await spent()).toEqual(before)
  const { credit } = await readCredit(buying, till.node.url, holder.address)
  expect(credit.find(({ network }) => network === 'eip155:8453')).toMatchObject({ credit_micro: '949000000' })
}, 180_000)

test('credit of another chain reserved contracts before it was refused', async () => {
  const { symbol } = await nearest()
  const account = await till.newBuyer(0n)
  const wallet = account.address.toLowerCase() as Address
  const lines = [
    debit(accounts.onchain('eip155:137', 'custody'), 9_000_000_000n),
    credit(accounts.credit('eip155:137', wallet), 9_000_000_000n),
  ]
  await post(till.db.database, [{ reference: `test_topup:${wallet}`, kind: 'opening', lines }])
  const bodies = { buy: { symbol }, write: { symbol, premium_usd: '80' } }
  for (const [what, body] of Object.entries(bodies)) {
    const signed = await signRequest(at(`/v1/options/${what}`), postJson(body), {
      account,
      platform: { nowMs: clock.nowMs, randomBytes: (length) => randomBytes(length) },
    })
    const response = await fetch(signed)
    expect([response.status, await response.json()], what).toMatchObject([402, { code: 'payment_required' }])
  }
  const { rows } = await till.db.owner.query('select state from option_position where holder = $1', [wallet])
  expect(rows).toEqual([])
  const calls = await till.db.owner.query('select state from entitled_call where account = $1', [wallet])
  expect(calls.rows).toEqual([])
})

test('the kill switch stops trading, not looking', async () => {
  await setPause(till.db.database, { name: 'options', paused: true, reason: 'drill', by: 'test' })
  try {
    await expect
      .poll(async () => (await fetch(at('/v1/options/quote'), postJson({ symbol: held }))).status, { timeout: 10_000 })
      .toBe(503)
    const refused = await buy(buyer, at('/v1/options/buy'), {}, postJson({ symbol: held }))
    expect(await refused.json()).toMatchObject({ code: 'not_available' })
    expect((await fetch(at('/v1/options/series'))).status).toBe(200)
  } finally {
    await setPause(till.db.database, { name: 'options', paused: false, reason: 'over', by: 'test' })
  }
})

test('at the expiry the series settles, pays out on the chain, and anybody can replay it', async () => {
  const mine = await client(buyer)
  const { expires_at } = await readOptionSeries(mine, till.node.url, held)
  const before = await usdcOf(buyer)
  publishUntil(Date.parse(expires_at))
  aheadMs += Math.max(0, Date.parse(expires_at) - clock.nowMs()) + 5_000
  const holdings = () => readOptionHoldings(mine, till.node.url, buyer.address)
  await expect
    .poll(async () => (await holdings()).positions.map(({ state }) => state), { timeout: 90_000, interval: 500 })
    .toEqual(['settled', 'settled'])
  const { positions } = await holdings()
  const payout = positions.reduce((sum, { payout_micro }) => sum + BigInt(payout_micro ?? 0), 0n)
  expect(payout).toBeGreaterThan(0n)
  await expect.poll(async () => (await usdcOf(buyer)) - before, { timeout: 90_000, interval: 500 }).toBe(payout)
  const [rest] = (await readOptionHoldings(mine, till.node.url, closer.address)).positions
  expect(rest).toMatchObject({ state: 'settled', quantity: 1, payout_micro: (payout / 2n).toString() })
  // Paid in, less what was sold before, and the payoff: all of it as it was shown.
  await expect
    .poll(async () => (await usdcOf(closer)) - 500_000_000n, { timeout: 90_000, interval: 500 })
    .toBe(BigInt(rest?.profit_micro ?? 0))
  const replay = await replayOptionSettlement(mine, till.node.url, held)
  expect(replay).toMatchObject({ outcome: 'fixed', differences: [] })
  expect(BigInt(replay.payoff_micro ?? 0) * 2n).toBe(payout)
  const { data } = await listOptionSettlements(mine, till.node.url, { limit: 500 })
  expect(data.map(({ symbol }) => symbol)).toContain(held)
  const { sumByUnit } = await trialBalance(till.db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
}, 240_000)

test('the command line shows and replays the same', async () => {
  // It believes no signature from the future.
  aheadMs = 0
  const run = async (...words: string[]) => {
    const terminal = createTestTerminal()
    const ends: number[] = []
    const program = createProgram({ terminal, endWith: (code) => ends.push(code) })
    await program.parseAsync(['node', 'assay', 'options', ...words, '--url', till.node.url])
    return { out: terminal.stdout(), ends }
  }
  expect((await run('clusters')).out).toContain('Topic 52')
  expect((await run('series', '--all')).out).toContain('TC-')
  expect((await run('series', held)).out).toContain('greeks')
  const traded = (await listOptionSeries(await client(buyer), till.node.url)).find(({ greeks }) => greeks !== null)
  expect((await run('replay', traded?.symbol ?? '')).out).toContain('the node priced it so')
  expect((await run('positions', buyer.address)).out).toContain(held)
  expect((await run('settlements')).out).toContain(held)
  expect((await run('trades', held)).out).toContain('sale')
  expect((await run('days', held)).out).toContain('settled at')
  expect((await run('vault')).out).toContain('realised profit')
  const replayed = await run('replay', held)
  expect(replayed.out).toContain('the node settled it so')
  expect(replayed.ends).toEqual([])
})
