import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createAssayClient,
  createMandate,
  requestChallenge,
  signIn,
  signInHeader,
  signRequest,
} from '../packages/sdk/src/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { base32 } from '../packages/till/src/kernel/ids.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { revokeTokens } from '../packages/till/src/signing/index.ts'
import { openFeedShop } from './harness/feed-shop.ts'
import { buy } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: ['account', 'sandbox', 'subscriptions', 'rewards'], shops: [openFeedShop] })

const at = (path: string) => `${till.node.url}${path}`
const day = 86_400_000
type Bought = {
  subscription: {
    tier: string
    chain: string
    price_usd: string
    asset: string
    wallet: string
    from_at: string
    until_at: string
    provisional: boolean
  }
  token: string
  receipt: string
}
const pull = (tier: string, token: string) =>
  fetch(at(`/test/feed/${tier}`), { headers: { authorization: `Bearer ${token}` } })

test('a wallet subscribes on Base, pulls live with its token, and learns the price of vip', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const response = await buy(buyer, at('/matrix/subscribe/standard'))
  expect(response.status).toBe(200)
  const { subscription, token, receipt } = (await response.json()) as Bought
  expect(subscription).toMatchObject({
    tier: 'standard',
    chain: 'base',
    price_usd: '250',
    asset: 'USDC',
    wallet: buyer.address,
  })
  expect(Date.parse(subscription.until_at) - Date.parse(subscription.from_at)).toBe(30 * day)
  expect(receipt).toMatch(/^eyJ/)
  const live = await pull('live', token)
  expect(live.status).toBe(200)
  expect(await live.json()).toMatchObject({ tier: 'live', reader: buyer.address.toLowerCase() })
  const vip = await pull('vip', token)
  expect(vip.status).toBe(402)
  expect(vip.headers.get('payment-required')).not.toBeNull()
  expect(await vip.json()).toMatchObject({ price_usd: '0.25', renewal: [{ tier: 'vip', price_usd: '1000' }] })
})

test('a subscriber renews from credit, pauses, resumes, upgrades and cancels, each by a signed request', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  expect((await buy(buyer, at('/v1/credit/topup?usd=800'))).status).toBe(200)
  const plans = (await (await fetch(at('/v1/subscriptions/plans'))).json()) as { renewal: { delegate: string } }
  const client = createAssayClient({ account: buyer, baseUrl: till.node.url, maxPerCallUsd: '0' })
  const mandate = await createMandate(client, buyer, {
    node: till.node.url,
    delegate: plans.renewal.delegate,
    routes: ['subscriptions.*'],
    maxPerCallUsd: '250',
    maxPerDayUsd: '250',
    maxTotalUsd: '3000',
    expiresAt: new Date(Date.now() + 300 * day),
  })
  const ask = async (word: string, body?: unknown, by = buyer) => {
    const init = {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }
    const response = await fetch(await signRequest(at(`/v1/subscriptions/${word}`), init, { account: by }))
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  expect(await ask('renewal', { mandate: mandate.id })).toMatchObject({
    status: 200,
    body: { renewal: { on: true, tier: 'standard', max_price_micro: '250000000', problem: null } },
  })
  // Nobody else's signature changes it.
  expect((await ask('cancel', undefined, await till.newBuyer())).status).toBe(404)
  expect(await ask('pause')).toMatchObject({ body: { subscription: { paused_at: expect.any(String) } } })
  expect((await pull('live', token)).status).toBe(402)
  expect((await ask('upgrade', { max_price_micro: '750000000' })).body).toMatchObject({ code: 'subscription_state' })
  expect((await ask('resume')).status).toBe(200)
  expect((await pull('live', token)).status).toBe(200)
  // A reorg could still take the payment that brought the credit.
  let upgraded = await ask('upgrade', { max_price_micro: '750000000' })
  expect(upgraded.body).toMatchObject({ code: 'credit_unavailable', detail: expect.stringContaining('not final') })
  const upgrade = async () => {
    await till.base.control.mine(100)
    upgraded = await ask('upgrade', { max_price_micro: '750000000' })
    return upgraded.status
  }
  await expect.poll(upgrade, { timeout: 30_000, interval: 250 }).toBe(200)
  expect(upgraded.body).toMatchObject({ subscription: { tier: 'vip' } })
  expect(Number(upgraded.body['price_micro'])).toBeGreaterThan(749_000_000)
  expect((await pull('vip', token)).status).toBe(200)
  expect(await ask('cancel')).toMatchObject({ status: 200, body: { renewal: { on: false, next_at: null } } })
  const listed = await fetch(await signRequest(at('/v1/subscriptions/list'), {}, { account: buyer }))
  expect(await listed.json()).toMatchObject({
    data: [{ active: true, renewal: { on: false }, upgrade_price_micro: null }],
  })
})

test('the token is stored as a hash only, in every table', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  const { rows } = await till.db.owner.query<{ found: bigint }>(
    `select count(*) as found from payment_answer where position($1::bytea in body) > 0`,
    [Buffer.from(token)],
  )
  expect(rows[0]?.found).toBe(0n)
})

test('paying on Polygon extends what was paid on Base, and vip takes over what standard is worth', async () => {
  const buyer = await till.newBuyer(3_000_000_000n)
  const first = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  const second = (await (
    await buy(buyer, at('/poly/matrix/subscribe/standard'), { network: 'eip155:137' })
  ).json()) as Bought
  expect(second.subscription.chain).toBe('polygon')
  expect(second.token).toBe(first.token)
  expect(Date.parse(second.subscription.until_at) - Date.parse(first.subscription.until_at)).toBe(30 * day)
  const third = (await (await buy(buyer, at('/matrix/subscribe/vip'))).json()) as Bought
  const boughtMs = Date.parse(third.subscription.from_at)
  const leftMs = Date.parse(second.subscription.until_at) - boughtMs
  expect(Date.parse(third.subscription.until_at)).toBe(boughtMs + 30 * day + Math.floor(leftMs / 4))
  for (const tier of ['live', 'vip']) expect((await pull(tier, third.token)).status).toBe(200)
})

test('a wallet proof opens what the token opens; an unknown token is refused', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  await buy(buyer, at('/matrix/subscribe/vip'))
  const siwx = async () => ({
    [signInHeader]: await signIn(await requestChallenge(till.node.url), { account: buyer, origin: till.node.url }),
  })
  expect((await fetch(at('/test/feed/vip'), { headers: await siwx() })).status).toBe(200)
  expect((await pull('live', `asub_1_${'0'.repeat(52)}`)).status).toBe(401)
  expect((await pull('live', 'asub_nonsense')).status).toBe(401)
})

test('one list has all subscriptions of a wallet, feeds and stream; a token lists its own, a stranger has none', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  await till.db.owner.query(
    `insert into subscription (wallet, product, tier, from_at, until_at, extended_ms, token_version, token_secret, changed_at)
     select wallet, 'stream', 'stream', from_at, until_at, 0, 1, token_secret, changed_at from subscription where wallet = $1`,
    [buyer.address.toLowerCase()],
  )
  const list = async (headers: Record<string, string>) =>
    ((await (await fetch(at('/v1/subscriptions/list'), { headers })).json()) as { data: { product: string }[] }).data
  const proofOf = async (account: typeof buyer) => ({
    [signInHeader]: await signIn(await requestChallenge(till.node.url), { account, origin: till.node.url }),
  })
  expect(await list(await proofOf(buyer))).toMatchObject([
    { product: 'feeds', active: true, ends_in_days: 29, renew_at: '/matrix/subscribe/standard' },
    { product: 'stream', active: true, renew_at: '/v1/market/intent-stream', subscription: { tier: 'stream' } },
  ])
  expect((await list({ authorization: `Bearer ${token}` })).map(({ product }) => product)).toEqual(['feeds'])
  expect(await list(await proofOf(await till.newBuyer()))).toEqual([])
  expect((await fetch(at('/v1/subscriptions/list'))).status).toBe(401)
})

test('rotate ends the old token, revoke ends them all, and a renewal brings a new one', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  const signed = async (path: string) => fetch(await signRequest(at(path), { method: 'POST' }, { account: buyer }))
  const rotated = (await (await signed('/v1/subscriptions/rotate')).json()) as Bought
  expect(rotated.token).not.toBe(token)
  expect((await pull('live', token)).status).toBe(401)
  expect((await pull('live', rotated.token)).status).toBe(200)
  expect((await signed('/v1/subscriptions/revoke')).status).toBe(200)
  expect((await pull('live', rotated.token)).status).toBe(401)
  const renewed = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  expect((await pull('live', renewed.token)).status).toBe(200)
})

test('bearer tokens could be made from the signing seed and survived a revocation', async () => {
  const other = await till.startAnother({ shops: [openFeedShop] })
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  const seeds = await till.db.owner.query<{ seed: string }>('select private_d as seed from keyring_demo_secret')
  for (const { seed } of seeds.rows) {
    const name = `assay asub token 1\n${buyer.address.toLowerCase()} 1`
    const forged = base32(createHmac('sha256', Buffer.from(seed, 'base64url')).update(name).digest())
    expect((await pull('live', `asub_1_${forged}`)).status).toBe(401)
  }
  const opens = async (given: string) =>
    Promise.all(
      [till.node.url, other.address].map(async (node) => {
        const headers = { authorization: `Bearer ${given}` }
        return (await fetch(`${node}/test/feed/live`, { headers })).status
      }),
    )
  expect(await opens(token)).toEqual([200, 200])
  await revokeTokens(till.db.database, systemRng, systemClock.nowMs())
  expect(await opens(token)).toEqual([401, 401])
  const signed = await signRequest(at('/v1/subscriptions/rotate'), { method: 'POST' }, { account: buyer })
  const rotated = (await (await fetch(signed)).json()) as Bought
  expect(rotated.token).not.toBe(token)
  expect(await opens(rotated.token)).toEqual([200, 200])
  // Paid for again, a wallet whose token was revoked gets one that opens something.
  await revokeTokens(till.db.database, systemRng, systemClock.nowMs())
  const renewed = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  expect(await opens(renewed.token)).toEqual([200, 200])
  expect(await opens(rotated.token)).toEqual([401, 401])
}, 60_000)

test('L14: a reorg that takes the payment away takes the period, the points and the affiliate’s share away', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const partner = await till.newBuyer(0n)
  till.base.control.setFinalityLag(10)
  await till.base.control.mine(1)
  const bought = (await (await buy(buyer, at(`/matrix/subscribe/standard?aff=${partner.address}`))).json()) as Bought
  expect(bought.subscription.provisional).toBe(true)
  const read = async <T>(path: string) => (await (await fetch(at(path))).json()) as T
  const points = async () => read<{ points: string; pending_points: string }>(`/loyalty/${buyer.address}`)
  expect((await points()).pending_points).toBe((await points()).points)
  const { rows } = await till.db.owner.query<{ transaction: `0x${string}` }>(
    `select '0x' || encode(transaction, 'hex') as transaction from payment where payer = $1`,
    [buyer.address.toLowerCase()],
  )
  await till.base.control.mine(2)
  // Nothing is mined until it was seen to be gone: our own transaction is sent again and would land at once.
  await till.base.control.holdMining()
  await till.base.control.reorg(3, { drop: [rows[0]?.transaction ?? '0x'] })
  till.base.control.setFinalityLag(0)
  await until('points reversed', async () => (await points()).points === '0')
  expect((await pull('live', bought.token)).status).toBe(402)
  expect(await read(`/affiliate/${partner.address}`)).toMatchObject({
    earned_micro: '0',
    pending_micro: '0',
    paid_micro: '0',
  })
  await till.base.control.releaseMining()
})

test('fair use is counted per wallet and answered with 429 and a time', async () => {
  const buyer = await till.newBuyer(2_000_000_000n)
  const { token } = (await (await buy(buyer, at('/matrix/subscribe/standard'))).json()) as Bought
  await till.db.owner.query(
    `insert into subscription_usage (wallet, span, began_at, used) values ($1, 'day', date_trunc('day', now(), 'UTC'), 20000)
     on conflict (wallet, span) do update set used = 20000`,
    [buyer.address.toLowerCase()],
  )
  const response = await pull('live', token)
  expect(response.status).toBe(429)
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
})
