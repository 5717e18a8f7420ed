import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { requestRefund } from '../packages/till/src/internal.ts'
import { trialBalance } from '../packages/till/src/ledger/index.ts'
import { openFeedShop } from './harness/feed-shop.ts'
import { postJson } from './harness/post-json.ts'
import { buy } from './harness/till-fixture.ts'
import { tokenBalance } from './harness/token-balance.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: ['account', 'sandbox', 'subscriptions', 'rewards'], shops: [openFeedShop] })

const at = (path: string) => `${till.node.url}${path}`
const json = async <T = Record<string, unknown>>(path: string) => (await (await fetch(at(path))).json()) as T
const balanced = async () => {
  const { sumByUnit } = await trialBalance(till.db.owner)
  for (const [unit, sum] of Object.entries(sumByUnit)) expect(sum, unit).toBe(0n)
}
type Loyalty = {
  points: string
  tier: string
  spent_usd: string
  referral: { referred: number; visits: number; referred_by: { status: string; reason: string | null } | null }
}
type Affiliate = {
  rate: number
  earned_micro: string
  pending_micro: string
  payable_micro: string
  paid_micro: string
  payouts: { state: string; transaction: string | null; amount_micro: string }[]
}
const loyalty = (wallet: string) => json<Loyalty>(`/loyalty/${wallet}`)
const affiliate = (wallet: string) => json<Affiliate>(`/affiliate/${wallet}`)

async function redeem(account: PrivateKeyAccount, reward: string, points: string): Promise<Response> {
  const info = await json<{ sign: { nonce: string; issued_at: string; expires_at: string; typed_data: never } }>(
    `/redeem/info?wallet=${account.address}&reward=${reward}&points=${points}`,
  )
  const { nonce, issued_at, expires_at, typed_data } = info.sign
  const signature = await account.signTypedData(typed_data)
  return fetch(
    at('/redeem'),
    postJson({ wallet: account.address, points, reward, nonce, issued_at, expires_at, signature }),
  )
}

test('a wallet never seen has zeros', async () => {
  const wallet = `0x${'12'.repeat(20)}`
  expect(await loyalty(wallet)).toMatchObject({ points: '0', tier: 'BRONZE', spent_usd: '0' })
  expect(await affiliate(wallet)).toMatchObject({ rate: 0.15, earned_micro: '0', paid_micro: '0', payouts: [] })
  expect((await fetch(at('/loyalty/0x12'))).status).toBe(400)
  expect((await fetch(at(`/loyalty/${wallet}?aff=nonsense`))).status).toBe(400)
})

test('a referred wallet and its referrer get points with the first sale, and redeem them for a pass that pays', async () => {
  const referrer = await till.newBuyer()
  const buyer = await till.newBuyer(2_000_000_000n)
  const ref = `?ref=${referrer.address}`
  expect((await buy(buyer, at(`/matrix/subscribe/standard${ref}`))).status).toBe(200)
  await balanced()
  const brought = await loyalty(referrer.address)
  expect(brought).toMatchObject({ points: '10000', referral: { referred: 1 } })
  const mine = await loyalty(buyer.address)
  expect(mine.tier).toBe('PLATINUM')
  expect(mine.referral.referred_by).toMatchObject({ status: 'counted' })
  const redeemed = await redeem(referrer, 'pull', '2000')
  expect(redeemed.status).toBe(200)
  const { pass, balance } = (await redeemed.json()) as { pass: { token: string; calls: number }; balance: string }
  expect({ calls: pass.calls, balance }).toEqual({ calls: 2, balance: '8000' })
  await balanced()
  const use = () => fetch(at('/test/feed/live'), { headers: { authorization: `Bearer ${pass.token}` } })
  expect(await Promise.all([use(), use(), use()]).then((all) => all.map(({ status }) => status).sort())).toEqual([
    200, 200, 402,
  ])
  expect((await loyalty(referrer.address)).points).toBe('8000')
  await balanced()
})

test('an affiliate is paid on chain, and a refund takes the share back', async () => {
  const partner = await till.newBuyer(0n)
  const buyer = await till.newBuyer(2_000_000_000n)
  const response = await buy(buyer, at(`/matrix/subscribe/standard?aff=${partner.address}`))
  expect(response.status).toBe(200)
  const shareMicro = '37500000'
  expect(await affiliate(partner.address)).toMatchObject({ earned_micro: shareMicro, pending_micro: shareMicro })
  await until('paid', async () => (await affiliate(partner.address)).paid_micro === shareMicro)
  await balanced()
  const paid = await affiliate(partner.address)
  expect(paid.payouts).toMatchObject([{ state: 'paid', amount_micro: shareMicro }])
  expect(String(await tokenBalance(till.base, partner.address))).toBe(shareMicro)
  const { rows } = await till.db.owner.query<{ id: string }>(`select id from payment where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  const paymentId = rows[0]?.id ?? ''
  expect(await requestRefund(till.db.database, { paymentId, reason: 'asked for', by: 'test' })).toMatchObject({
    status: 'asked',
  })
  expect(await requestRefund(till.db.database, { paymentId, reason: 'again', by: 'test' })).toMatchObject({
    status: 'refused',
  })
  await until('refunded on chain', async () => {
    const state = await till.db.owner.query<{ state: string }>(`select state from payout where subject = $1`, [
      paymentId,
    ])
    return state.rows[0]?.state === 'paid'
  })
  await balanced()
  expect(await loyalty(buyer.address)).toMatchObject({ points: '0', spent_usd: '0' })
  expect(await affiliate(partner.address)).toMatchObject({ earned_micro: '0', owed_back_micro: shareMicro })
}, 120_000)
