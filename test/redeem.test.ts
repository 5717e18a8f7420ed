import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import smartWallet from '../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import type { Address } from '../packages/protocol/src/address.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { type Devnet, demoAccount } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { revokeTokens } from '../packages/till/src/signing/index.ts'
import { openFeedShop } from './harness/feed-shop.ts'
import { postJson } from './harness/post-json.ts'
import { buy } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'
import { deployContract } from './harness/wallets.ts'

let owner: PrivateKeyAccount
const till = useTill({ ownShops: ['account', 'sandbox', 'subscriptions', 'rewards'], shops: [openFeedShop] })
beforeAll(async () => {
  owner = await till.newBuyer(100_000_000n)
  for (let n = 0; n < 20; n += 1) await buy(owner, at(`/test/feed/vip?n=${n}`))
})

const at = (path: string) => `${till.node.url}${path}`
type Info = {
  balance: string
  sign: { nonce: string; issued_at: string; expires_at: string; typed_data: never; message: string }
}
const infoFor = async (wallet: string, points = '1000', reward = 'pull') =>
  (await (await fetch(at(`/redeem/info?wallet=${wallet}&reward=${reward}&points=${points}`))).json()) as Info
const post = (body: unknown) => fetch(at('/redeem'), postJson(body))
const draft = async (changes: Record<string, unknown> = {}, points = '1000') => {
  const { sign } = await infoFor(owner.address, points)
  const { nonce, issued_at, expires_at, typed_data } = sign
  const signature = await owner.signTypedData(typed_data)
  return { wallet: owner.address, points, reward: 'pull', nonce, issued_at, expires_at, signature, ...changes }
}
const code = async (response: Response) => ((await response.json()) as { code: string }).code

test('twenty vip pulls earn what the table says, and info without a wallet tells how to sign', async () => {
  expect((await infoFor(owner.address)).balance).toBe('10000')
  const general = (await (await fetch(at('/redeem/info'))).json()) as Record<string, unknown>
  expect(general).toMatchObject({ how: { primary_type: 'Redeem', seconds: 300 } })
  expect(general).not.toHaveProperty('sign')
})

test('the same request again gets the first result; a changed one 409', async () => {
  const body = await draft()
  const [first, second] = [await post(body), await post(body)]
  expect([first.status, second.status]).toEqual([200, 200])
  expect(await second.json()).toEqual(await first.json())
  const changed = await post({ ...body, points: '2000' })
  expect([changed.status, await code(changed)]).toEqual([409, 'redemption_conflict'])
})

test('a statement for another wallet, amount, reward or node is refused', async () => {
  const stranger = await till.newBuyer(0n)
  for (const changes of [
    { wallet: stranger.address },
    { points: '2000' },
    { reward: 'report' },
    { chain_id: 'eip155:137' },
  ]) {
    const response = await post(await draft(changes))
    expect([401, 400], JSON.stringify(changes)).toContain(response.status)
  }
})

test('expired 410, a nonce that is not ours 401, too few points 422', async () => {
  const past = new Date(Date.now() - 600_000).toISOString()
  expect((await post(await draft({ expires_at: past }))).status).toBe(410)
  expect((await post(await draft({ nonce: `00000001${'0'.repeat(24)}` }))).status).toBe(410)
  expect((await post(await draft({ nonce: 'f'.repeat(32) }))).status).toBe(401)
  const short = await post(await draft({}, '100000'))
  expect([short.status, await code(short)]).toEqual([422, 'points_insufficient'])
})

test('a wallet that cannot sign typed data signs the text (EIP-191)', async () => {
  const { sign } = await infoFor(owner.address)
  const signature = await owner.signMessage({ message: sign.message })
  const { nonce, issued_at, expires_at } = sign
  const body = { wallet: owner.address, points: '1000', reward: 'pull', nonce, issued_at, expires_at, signature }
  expect((await post({ ...body, scheme: 'eip191' })).status).toBe(200)
})

test('a contract wallet that cannot be checked is 503, and no points move', async () => {
  const before = (await infoFor(owner.address)).balance
  const body = await draft({ signature: `0x${'12'.repeat(100)}` })
  // For this wallet only: a job that reads other code meanwhile must neither take the fault nor open the breaker.
  till.base.control.failNext('eth_getCode', { times: 1_000, about: owner.address })
  expect((await post(body)).status).toBe(503)
  till.base.control.clearFaults()
  expect((await post(body)).status).toBe(401)
  expect((await infoFor(owner.address)).balance).toBe(before)
})

test('a contract wallet buys, redeems by EIP-1271 and uses its pass; on a chain where it never paid it proves nothing', async () => {
  const key = privateKeyToAccount(generatePrivateKey())
  const [contract, twin] = [await deploy(till.base, key.address), await deploy(till.polygon, key.address)]
  // The same deployer at the same count: one address, and on the other chain it could have had any owner.
  expect(twin).toBe(contract)
  await till.base.control.fund(contract, { microUsdc: 1_000_000n })
  const asContract = { ...key, address: contract } as PrivateKeyAccount
  for (const n of [1, 2]) expect((await buy(asContract, at(`/test/feed/vip?n=${n}`))).status).toBe(200)
  const signed = async (signer: PrivateKeyAccount, chain = 'eip155:8453') => {
    const query = `wallet=${contract}&reward=pull&points=1000&chain_id=${chain}`
    const { sign } = (await (await fetch(at(`/redeem/info?${query}`))).json()) as Info
    const { nonce, issued_at, expires_at, typed_data } = sign
    const signature = await signer.signTypedData(typed_data)
    return {
      wallet: contract,
      points: '1000',
      reward: 'pull',
      nonce,
      issued_at,
      expires_at,
      signature,
      chain_id: chain,
    }
  }
  expect((await post(await signed(owner))).status).toBe(401)
  const elsewhere = await post(await signed(key, 'eip155:137'))
  expect([elsewhere.status, await elsewhere.text()]).toEqual([
    401,
    expect.stringContaining('bought nothing on eip155:137'),
  ])
  const redeemed = await post(await signed(key))
  expect(redeemed.status).toBe(200)
  const { pass, balance } = (await redeemed.json()) as { pass: { token: string }; balance: string }
  expect(balance).toBe('0')
  const used = await fetch(at('/test/feed/live'), { headers: { authorization: `Bearer ${pass.token}` } })
  expect(used.status).toBe(200)
})

const deploy = (devnet: Devnet, snapshotCache: Address): Promise<Address> =>
  deployContract(devnet, smartWallet, [snapshotCache], privateKeyToAccount(demoAccount('creator').privateKey))

test('a named call uses the pass once however often it is sent, and another request of that name is 409', async () => {
  const { pass } = (await (await post(await draft())).json()) as { pass: { token: string } }
  const use = (path: string) =>
    fetch(at(path), { headers: { authorization: `Bearer ${pass.token}`, 'idempotency-key': 'one' } })
  const first = await use('/test/feed/live?n=1')
  expect(first.status).toBe(200)
  const again = await use('/test/feed/live?n=1')
  expect([again.status, await again.text()]).toEqual([200, await first.text()])
  expect((await use('/test/feed/live?n=2')).status).toBe(409)
  const { rows } = await till.db.owner.query<{ used: number }>(`select used from pass order by made_at desc limit 1`)
  expect(rows[0]?.used).toBe(1)
  expect((await fetch(at('/test/feed/vip'), { headers: { authorization: `Bearer ${pass.token}` } })).status).toBe(402)
  expect(
    (await fetch(at('/test/feed/live'), { headers: { authorization: `Bearer apass_${'0'.repeat(52)}` } })).status,
  ).toBe(401)
})

test('a pass whose token was revoked opens nothing, and its redemption gives a new token', async () => {
  const body = await draft()
  const redeem = async () => ((await (await post(body)).json()) as { pass: { token: string } }).pass.token
  const use = async (token: string) =>
    (await fetch(at('/test/feed/live'), { headers: { authorization: `Bearer ${token}` } })).status
  const first = await redeem()
  expect(await redeem()).toBe(first)
  await revokeTokens(till.db.database, systemRng, systemClock.nowMs())
  expect(await use(first)).toBe(401)
  const again = await Promise.all([redeem(), redeem()])
  expect(new Set(again).size).toBe(1)
  expect(again[0]).not.toBe(first)
  expect(await use(again[0] as string)).toBe(200)
  expect(await use(first)).toBe(401)
})

test('two passes of one wallet shared the names of their calls', async () => {
  const newPass = async () => ((await (await post(await draft())).json()) as { pass: { token: string } }).pass
  const passes = [await newPass(), await newPass()]
  const statuses: number[] = []
  for (const [n, { token }] of passes.entries()) {
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'of-each' }
    statuses.push((await fetch(at(`/test/feed/live?n=${n}`), { headers })).status)
  }
  expect(statuses).toEqual([200, 200])
})

test('credit is paid in once and drawn by signed requests, which earn points; a top-up earns none', async () => {
  const payer = await till.newBuyer(100_000_000n)
  const topUp = await buy(payer, at('/v1/credit/topup?usd=5'))
  expect(topUp.status).toBe(200)
  expect(await topUp.json()).toMatchObject({ added_micro: '5000000', credit_micro: '5000000' })
  const loyalty = async () => (await (await fetch(at(`/loyalty/${payer.address}`))).json()) as { points: string }
  expect((await loyalty()).points).toBe('0')
  const draw = async (path: string) => fetch(await signRequest(at(path), {}, { account: payer }))
  expect((await draw('/test/feed/vip')).status).toBe(200)
  expect((await loyalty()).points).toBe('500')
  const left = (await (await fetch(at(`/v1/credit/${payer.address}`))).json()) as { credit: { credit_micro: string }[] }
  expect(left.credit[0]?.credit_micro).toBe('4750000')
  const poor = await till.newBuyer(0n)
  expect((await fetch(await signRequest(at('/test/feed/vip'), {}, { account: poor }))).status).toBe(402)
})
