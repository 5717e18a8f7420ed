import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { getAddress, type Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import smartWallet from '../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { insertTestRuling } from '../packages/node/src/shops/attestations/attest/ruling.fixture.ts'
import { openRewardsShop } from '../packages/node/src/shops/rewards/index.ts'
import { openSubscriptionsShop } from '../packages/node/src/shops/subscriptions/index.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { erc20Asset } from '../packages/protocol/src/asset.ts'
import {
  type AssayClientOptions,
  askSigned,
  createAssayClient,
  createMandate,
  listMandates,
  lockBond,
  type MandateTerms,
  presentMandate,
  readBonds,
  readCredit,
  readDemoNetworks,
  refundCredit,
  releaseBond,
  revokeMandate,
  signMandate,
  signRequest,
  topUpCredit,
} from '../packages/sdk/src/index.ts'
import { activeBonds } from '../packages/till/src/credit/bonds/index.ts'
import { openMandates } from '../packages/till/src/credit/mandates/index.ts'
import { type Devnet, demoAccount } from '../packages/till/src/devnet/index.ts'
import { accounts, balanceDifferences, balanceOf, post, trialBalance } from '../packages/till/src/ledger/index.ts'
import { setPause } from '../packages/till/src/store/pauses.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'
import { faultsInBooks } from './harness/books.ts'
import { deployToken, mintToken } from './harness/deploy-token.ts'
import { openFeedShop } from './harness/feed-shop.ts'
import { paymentRows, spentOnChain } from './harness/invariants.ts'
import { postJson } from './harness/post-json.ts'
import { buy, decodeHeader, echoPath, encodePayload, quote } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'
import { deployContract } from './harness/wallets.ts'

let networks: NonNullable<AssayClientOptions['networks']>
const till = useTill({
  ownShops: 'till',
  env: { CREDIT: JSON.stringify({ bond_release_hours: 0 }) },
  shops: [openFeedShop, openSubscriptionsShop(), openRewardsShop()],
})
beforeAll(async () => {
  networks = await readDemoNetworks(till.node.url)
})
afterAll(async () => {
  expect(await balanceDifferences(till.db.database)).toEqual([])
})

const at = (path: string) => `${till.node.url}${path}`
const echo = (message: string) => `${echoPath}?message=${message}`
const clientOf = (account: PrivateKeyAccount, given: Partial<AssayClientOptions> = {}) =>
  createAssayClient({ account, baseUrl: till.node.url, networks, maxPerCallUsd: '20', ...given })
const creditOf = async (wallet: string, network = 'eip155:8453') => {
  const { credit } = await readCredit(clientOf(await till.newBuyer(0n)), till.node.url, wallet)
  return BigInt(credit.find((row) => row.network === network)?.credit_micro ?? '0')
}
const code = async (response: Response) => ((await response.json()) as { code: string }).code
const withCredit = async (usd: string, on: 'base' | 'polygon' = 'base') => {
  const account = await till.newBuyer(Number(usd) > 100 ? 1_000_000_000n : 100_000_000n)
  const [network] = networks.filter((one) => one.network === (on === 'base' ? 'eip155:8453' : 'eip155:137'))
  const paying = clientOf(account, { maxPerCallUsd: '1000', ...(network ? { networks: [network] } : {}) })
  await topUpCredit(paying, { node: till.node.url, usd })
  return account
}
const termsFor = (delegate: string, given: Partial<MandateTerms> = {}): MandateTerms => ({
  node: till.node.url,
  delegate,
  routes: ['sandbox.echo.*'],
  maxPerCallUsd: '0.001',
  maxPerDayUsd: '0.01',
  maxTotalUsd: '0.02',
  expiresAt: new Date(Date.now() + 3_600_000),
  ...given,
})
const stranger = () => privateKeyToAccount(generatePrivateKey())

test('credit follows the exact offers in the 402, and an unmodified @x402/fetch pays exact', async () => {
  const offer = await quote(at(echo('hi')))
  expect(offer.accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'exact', 'credit'])
  expect(offer.accepts.at(-1)).toMatchObject({ amount: '1000', extra: { proof: 'erc8128' } })
  expect((await fetch(at(echo('hi')))).headers.get('payment-required')?.length).toBeLessThan(3_072)
  // Credit does not buy credit.
  expect((await quote(at('/v1/credit/topup'))).accepts.map(({ scheme }) => scheme)).toEqual([
    ...['exact', 'exact', 'exact'],
  ])
  const account = await till.newBuyer()
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(client, { signer: account })
  const response = await wrapFetchWithPayment(fetch, client)(at(echo('stock')))
  expect(response.status).toBe(200)
  expect(await spentOnChain(till, 'base', account.address)).toBe(1_000n)
})

test('twenty answers for one transaction on chain; points and affiliate shares arise with the draws alone', async () => {
  const affiliate = stranger().address
  const account = await withCredit('1')
  const before = (await paymentRows(till)).length
  const loyalty = async () =>
    ((await (await fetch(at(`/loyalty/${account.address}`))).json()) as { points: string }).points
  expect(await loyalty()).toBe('0')
  const client = clientOf(account, { credit: 'prefer', maxTotalUsd: '0.02' })
  for (let n = 0; n < 20; n += 1) {
    const { response, payment, verified } = await client.fetch(`${echo(`n${n}`)}&aff=${affiliate}`)
    expect([response.status, verified.status]).toEqual([200, 'verified'])
    expect(payment).toMatchObject({
      status: 'drawn',
      amountMicro: '1000',
      leftMicro: String(1_000_000 - 1_000 * (n + 1)),
    })
    expect(await response.json()).toMatchObject({ echo: `n${n}`, paid_by: account.address })
  }
  await expect(client.fetch(echo('more'))).rejects.toMatchObject({ code: 'budget_exhausted' })
  expect((await paymentRows(till)).length).toBe(before)
  expect(await spentOnChain(till, 'base', account.address, 100_000_000n)).toBe(1_000_000n)
  expect(await creditOf(account.address)).toBe(980_000n)
  expect(await loyalty()).not.toBe('0')
  const earned = (await (await fetch(at(`/affiliate/${affiliate}`))).json()) as { earned_micro: string }
  expect(earned.earned_micro).toBe('3000')
})

test('an X-Affiliate-ID put beside a signed request by somebody else earned a share of it', async () => {
  const account = await withCredit('1')
  const earnedBy = async (wallet: string) =>
    ((await (await fetch(at(`/affiliate/${wallet}`))).json()) as { earned_micro: string }).earned_micro
  const draw = async (affiliate: string, cover: string[]) => {
    const headers = { 'X-Affiliate-ID': affiliate }
    const { status } = await fetch(await signRequest(at(echo('aff')), { headers }, { account, cover }))
    expect(status).toBe(200)
    return earnedBy(affiliate)
  }
  expect(await draw(stranger().address, [])).toBe('0')
  expect(await draw(stranger().address, ['x-affiliate-id'])).toBe('150')
  const named = stranger().address
  const client = clientOf(account, { credit: 'prefer' })
  await client.fetch(echo('sdk'), { headers: { 'X-Affiliate-ID': named } })
  expect(await earnedBy(named)).toBe('150')
})

test('credit of either chain pays; a wallet without enough of it pays on chain', async () => {
  const account = await withCredit('1', 'polygon')
  const client = clientOf(account, { credit: 'prefer' })
  expect((await client.fetch(echo('poly'))).payment).toMatchObject({ status: 'drawn', network: 'eip155:137' })
  const poor = clientOf(await till.newBuyer(), { credit: 'prefer' })
  expect((await poor.fetch(echo('paid'))).payment).toMatchObject({ status: 'settled' })
})

test('a delegate draws under a mandate within its limits, and is refused by name beyond them', async () => {
  const owner = await withCredit('1')
  const agent = stranger()
  const free = clientOf(owner)
  const mandate = await createMandate(free, owner, termsFor(agent.address))
  expect(mandate).toMatchObject({ state: 'open', owner: owner.address, drawn_total_micro: '0' })
  expect(await createMandate(free, owner, termsFor(agent.address))).not.toMatchObject({ id: mandate.id })
  const drawing = clientOf(agent, { credit: { mandate: mandate.id } })
  for (let n = 0; n < 10; n += 1)
    expect((await drawing.fetch(echo(`d${n}`))).payment, String(n)).toMatchObject({ status: 'drawn' })
  const over = await drawing.fetch(echo('eleven'))
  expect([over.response.status, over.payment.status]).toEqual([403, 'refused'])
  expect(await over.response.json()).toMatchObject({ code: 'mandate_over_cap', cap: 'per_day', left_micro: '0' })
  const elsewhere = await drawing.fetch('/test/feed/live')
  expect(await code(elsewhere.response)).toBe('mandate_route')
  const dear = await createMandate(free, owner, termsFor(agent.address, { routes: ['/test/**'] }))
  const dearer = await clientOf(agent, { credit: { mandate: dear.id } }).fetch('/test/feed/live')
  expect(await dearer.response.json()).toMatchObject({ code: 'mandate_over_cap', cap: 'per_call' })
  const thief = await clientOf(stranger(), { credit: { mandate: mandate.id } }).fetch(echo('mine'))
  expect(await code(thief.response)).toBe('delegate_mismatch')
  expect(await creditOf(owner.address)).toBe(990_000n)

  const given = await listMandates(free, { node: till.node.url, account: agent })
  expect(given.map(({ id }) => id)).toContain(mandate.id)
  expect(given.find(({ id }) => id === mandate.id)).toMatchObject({ drawn_today_micro: '10000' })
  expect(await listMandates(free, { node: till.node.url, account: stranger() })).toEqual([])
})

test('a revoked mandate is refused at the next call, stays revoked, and only its owner can revoke it', async () => {
  const owner = await withCredit('1')
  const agent = stranger()
  const free = clientOf(owner)
  const signed = await signMandate(owner, termsFor(agent.address))
  const { id } = await presentMandate(free, till.node.url, signed)
  const drawing = clientOf(agent, { credit: { mandate: id } })
  expect((await drawing.fetch(echo('before'))).payment.status).toBe('drawn')
  await expect(revokeMandate(free, { node: till.node.url, account: agent, id })).rejects.toMatchObject({
    details: { status: 403 },
  })
  const shown = async () => {
    const { rows } = await till.db.database.query(openMandates.openSql('$1', 'now()'), [owner.address.toLowerCase()])
    return openMandates.show(rows, Date.now())
  }
  expect(await shown()).toMatchObject([{ id, state: 'open', owner: owner.address }])
  expect(await revokeMandate(free, { node: till.node.url, account: owner, id })).toMatchObject({ state: 'revoked' })
  const { response } = await drawing.fetch(echo('after'))
  expect([response.status, await code(response)]).toEqual([403, 'mandate_revoked'])
  expect(await presentMandate(free, till.node.url, signed)).toMatchObject({ id, state: 'revoked' })
  expect(await shown()).toEqual([])
})

test('after a restore a mandate draws once its owner, and nobody else, sends it in a signed request', async () => {
  const owner = await withCredit('1')
  const agent = stranger()
  const pause = (paused: boolean) =>
    setPause(till.db.database, { name: 'mandates', paused, reason: 'test', by: 'node' })
  await pause(true)
  try {
    const signed = await signMandate(owner, termsFor(agent.address))
    const { id } = await presentMandate(clientOf(agent), till.node.url, signed)
    const draw = (mandate: string) => clientOf(agent, { credit: { mandate } }).fetch(echo('restored'))
    const send = (account: PrivateKeyAccount) =>
      askSigned(clientOf(account), 'mandates.create', { body: signed }, { node: till.node.url, account })
    await send(agent)
    const { response } = await draw(id)
    expect([response.status, await code(response)]).toEqual([403, 'mandate_unconfirmed'])
    await send(owner)
    expect((await draw(id)).payment).toMatchObject({ status: 'drawn' })
    const fresh = await createMandate(clientOf(owner), owner, termsFor(agent.address))
    expect((await draw(fresh.id)).payment).toMatchObject({ status: 'drawn' })
  } finally {
    await pause(false)
  }
})

test('forged, foreign, altered and expired mandates are not accepted, and a nonce counts once', async () => {
  const owner = await till.newBuyer(0n)
  const agent = stranger()
  const signed = await signMandate(owner, termsFor(agent.address))
  const present = async (body: unknown) => {
    const response = await fetch(at('/v1/mandates'), postJson(body))
    return [response.status, await code(response)]
  }
  const byThief = await signMandate(stranger(), termsFor(agent.address))
  expect(await present({ ...byThief, owner: owner.address })).toEqual([401, 'proof_invalid'])
  expect(await present({ ...signed, cap_total_micro: '999999999' })).toEqual([401, 'proof_invalid'])
  expect(await present({ ...signed, delegate: stranger().address })).toEqual([401, 'proof_invalid'])
  expect(await present({ ...signed, routes: ['*'] })).toEqual([401, 'proof_invalid'])
  const otherNode = await signMandate(owner, termsFor(agent.address, { node: 'https://other.example' }))
  expect(await present(otherNode)).toEqual([401, 'proof_invalid'])
  const old = await signMandate(owner, termsFor(agent.address, { expiresAt: new Date(Date.now() - 1_000) }))
  expect(await present(old)).toEqual([403, 'mandate_expired'])
  expect(await present({ ...signed, owner: agent.address })).toEqual([400, 'mandate_invalid'])
  expect(await present({ ...signed, more: 1 })).toEqual([400, 'input_invalid'])
  const first = await presentMandate(clientOf(owner), till.node.url, signed)
  expect((await presentMandate(clientOf(owner), till.node.url, signed)).id).toBe(first.id)
  const again = await signMandate(owner, termsFor(agent.address, { maxTotalUsd: '5' }), {
    randomBytes: () => Uint8Array.from(Buffer.from(signed.nonce.slice(2), 'hex')),
  })
  expect(await present(again)).toEqual([409, 'mandate_conflict'])
})

test('a contract wallet gives a mandate by ERC-1271, for its credit on that chain', async () => {
  const key = stranger()
  const contract = await deploy(till.base, key.address)
  await till.base.control.fund(contract, { microUsdc: 5_000_000n })
  const asContract = { ...key, address: contract } as PrivateKeyAccount
  const paidIn = await buy(asContract, at('/v1/credit/topup?usd=1'))
  expect(paidIn.status).toBe(200)
  const agent = stranger()
  const free = clientOf(key)
  await expect(createMandate(free, asContract, termsFor(agent.address, { chainId: 137 }))).rejects.toMatchObject({
    details: { status: 401 },
  })
  const mandate = await createMandate(free, asContract, termsFor(agent.address))
  const drawn = await clientOf(agent, { credit: { mandate: mandate.id } }).fetch(echo('contract'))
  expect(drawn.payment).toMatchObject({ status: 'drawn', network: 'eip155:8453' })
  expect(await creditOf(contract)).toBe(999_000n)
})

test('replayed, stale, cross-route and cross-host proofs draw nothing', async () => {
  const owner = await withCredit('1')
  const signed = await signRequest(at(echo('one')), {}, { account: owner })
  const copies = await Promise.all(Array.from({ length: 10 }, () => fetch(signed.clone())))
  expect(copies.map(({ status }) => status).sort()).toEqual([200, ...new Array(9).fill(401)])
  const headers = Object.fromEntries((await signRequest(at(echo('two')), {}, { account: owner })).headers)
  expect((await fetch(at('/test/feed/live'), { headers })).status).toBe(401)
  expect((await fetch(at(echo('three')), { headers })).status).toBe(401)
  const elsewhere = await signRequest(`http://other.example${echo('two')}`, {}, { account: owner })
  expect((await fetch(at(echo('two')), { headers: Object.fromEntries(elsewhere.headers) })).status).toBe(401)
  const platform = {
    nowMs: () => Date.now() - 120_000,
    randomBytes: (n: number) => crypto.getRandomValues(new Uint8Array(n)),
  }
  expect((await fetch(await signRequest(at(echo('two')), {}, { account: owner, platform }))).status).toBe(401)
  expect(await creditOf(owner.address)).toBe(999_000n)
})

test('the mandate must be under the signature: added by someone else it draws nothing', async () => {
  const owner = await withCredit('1')
  const agent = await withCredit('1')
  const { id } = await createMandate(clientOf(owner), owner, termsFor(agent.address))
  const signed = await signRequest(at(echo('x')), {}, { account: agent })
  const headers = { ...Object.fromEntries(signed.headers), 'assay-mandate': id }
  const response = await fetch(at(echo('x')), { headers })
  expect([response.status, await code(response)]).toEqual([401, 'proof_invalid'])
  expect([await creditOf(owner.address), await creditOf(agent.address)]).toEqual([1_000_000n, 1_000_000n])
})

test('scheme credit: the price that was agreed to is drawn and no other, and only with a proof', async () => {
  const owner = await withCredit('1')
  const offer = await quote(at(echo('x')))
  const accepted = offer.accepts.at(-1) as (typeof offer.accepts)[number]
  const pay = async (payload: unknown, sign = true, path = echo('x')) => {
    const init = { headers: { 'payment-signature': encodePayload(payload) } }
    return sign ? fetch(await signRequest(at(path), init, { account: owner })) : fetch(at(path), init)
  }
  const payload = { x402Version: 2, resource: offer.resource, accepted, payload: {} }
  expect([(await pay(payload, false)).status, (await pay(payload)).status]).toEqual([401, 200])
  const cheap = await pay({ ...payload, accepted: { ...accepted, amount: '999' } })
  expect([cheap.status, await cheap.json()]).toMatchObject([402, { reason: 'invalid_credit_amount' }])
  expect((await pay(payload, true, echo('other'))).status).toBe(409)
  expect((await pay(payload, true, '/v1/credit/topup')).status).toBe(402)
  const drawn = await pay({ ...payload, resource: undefined })
  expect(decodeHeader(drawn.headers.get('payment-response'))).toMatchObject({
    success: true,
    transaction: '',
    amount: '1000',
    extensions: { credit: { info: { left: '998000' } } },
  })
})

test('a named call is answered again with the same bytes and drawn once', async () => {
  const owner = await withCredit('1')
  const ask = async (message: string) =>
    fetch(await signRequest(at(echo(message)), { headers: { 'idempotency-key': 'mine' } }, { account: owner }))
  const [first, second] = [await ask('same'), await ask('same')]
  expect(await second.text()).toBe(await first.text())
  expect((await ask('other')).status).toBe(409)
  expect(await creditOf(owner.address)).toBe(999_000n)
})

test('a paid call that is asked for again after its price moved is answered, not asked to pay again', async () => {
  const owner = await withCredit('1')
  const offer = await quote(at(echo('moved')))
  const accepted = offer.accepts.at(-1) as (typeof offer.accepts)[number]
  const signed = (amount: string, key?: string) => {
    const payload = { x402Version: 2, resource: offer.resource, accepted: { ...accepted, amount }, payload: {} }
    const headers = { 'payment-signature': encodePayload(payload), ...(key ? { 'idempotency-key': key } : {}) }
    return signRequest(at(echo('moved')), { headers }, { account: owner })
  }
  const first = await fetch(await signed('1000', 'moved'))
  // As if the price had been another one when the call was drawn.
  const again = await fetch(await signed('999', 'moved'))
  expect([again.status, await again.text()]).toEqual([200, await first.text()])
  expect((await fetch(await signed('999', 'never-drawn'))).status).toBe(402)
  const request = await signed('1000')
  const copy = request.clone()
  expect((await fetch(request)).status).toBe(200)
  expect([(await fetch(copy)).status, await creditOf(owner.address)]).toEqual([401, 998_000n])
})

test('a refund sends final money back on its chain, less the cost; draws beside it never overdraw', async () => {
  const owner = await withCredit('3')
  const ask = () => refundCredit(clientOf(owner), { node: till.node.url, account: owner })
  const final = async () => {
    await till.base.control.mine(100)
    const { credit } = await readCredit(clientOf(owner), till.node.url, owner.address)
    return credit[0]?.not_final_micro
  }
  await expect.poll(final, { timeout: 30_000, interval: 250 }).toBe('0')
  const another = await withCredit('1')
  await expect(refundCredit(clientOf(another), { node: till.node.url, account: another })).rejects.toMatchObject({
    details: { problem: { code: 'credit_unavailable' } },
  })
  const draws = clientOf(owner, { credit: 'prefer', networks: [] })
  const [refunds, drawn] = await Promise.all([
    Promise.allSettled(Array.from({ length: 4 }, ask)),
    Promise.allSettled(Array.from({ length: 12 }, (_, n) => draws.fetch(echo(`r${n}`)))),
  ])
  const paid = refunds.flatMap((one) => (one.status === 'fulfilled' ? one.value.refunds : []))
  const servedMicro = BigInt(drawn.filter(({ status }) => status === 'fulfilled').length) * 1_000n
  const refundedMicro = paid.reduce((sum, one) => sum + BigInt(one.refunded_micro), 0n)
  expect(refundedMicro + servedMicro + (await creditOf(owner.address))).toBe(3_000_000n)
  const outMicro = paid.reduce((sum, one) => sum + BigInt(one.paid_micro), 0n)
  expect(outMicro).toBe(refundedMicro - BigInt(paid.length) * 10_000n)
  const received = async () => {
    await till.base.control.mine(100)
    return spentOnChain(till, 'base', owner.address, 100_000_000n)
  }
  await expect.poll(received, { timeout: 60_000, interval: 500 }).toBe(3_000_000n - outMicro)
}, 120_000)

test('a subscription bought with Polygon credit said that it was paid on Base', async () => {
  const owner = await withCredit('300', 'polygon')
  const bought = await fetch(await signRequest(at('/matrix/subscribe/standard'), {}, { account: owner }))
  expect(await bought.json()).toMatchObject({ subscription: { chain: 'polygon', price_usd: '250' } })
  expect(await creditOf(owner.address, 'eip155:137')).toBe(50_000_000n)
})

test('a subscription bought with credit gives its token, and the same one when its named call is asked for again', async () => {
  const owner = await withCredit('300')
  const ask = async () =>
    fetch(
      await signRequest(
        at('/matrix/subscribe/standard'),
        { headers: { 'idempotency-key': 'subscribe' } },
        { account: owner },
      ),
    )
  const [first, second] = [await ask(), await ask()]
  expect([first.status, second.status]).toEqual([200, 200])
  const bought = (await first.json()) as { token: string; subscription: unknown }
  expect(bought).toMatchObject({
    token: expect.stringMatching(/^asub_/),
    subscription: { tier: 'standard', price_usd: '250', wallet: owner.address },
  })
  expect(await second.json()).toEqual(bought)
  expect(await creditOf(owner.address)).toBe(50_000_000n)
  const pulled = await fetch(at('/test/feed/live'), { headers: { authorization: `Bearer ${bought.token}` } })
  expect(pulled.status).toBe(200)
})

test('a draw that was refused leaves the budget whole, also when the call is then paid on chain', async () => {
  const account = await withCredit('1')
  const client = clientOf(account, { credit: 'prefer', maxTotalUsd: '0.003' })
  expect((await client.fetch(echo('first'))).payment.status).toBe('drawn')
  // Its credit is locked elsewhere meanwhile: the client still believes that there is enough.
  const wallet = account.address.toLowerCase() as Address
  await post(till.db.database, [
    {
      reference: `test_gone:${wallet}`,
      kind: 'test',
      lines: [
        { account: accounts.credit('eip155:8453', wallet), amount: 999_000n },
        { account: accounts.creditBonded('eip155:8453', wallet), amount: -999_000n },
      ],
    },
  ])
  expect((await client.fetch(echo('second'))).payment.status).toBe('settled')
  expect((await client.fetch(echo('third'))).payment.status).toBe('settled')
  await expect(client.fetch(echo('fourth'))).rejects.toMatchObject({ code: 'budget_exhausted' })
})

test('a top-up that a reorg takes away after it was drawn is owed, and the next one pays that first', async () => {
  const { control } = till.base
  control.setFinalityLag(40)
  await control.mine(1)
  const owner = await withCredit('2')
  const wallet = owner.address.toLowerCase() as Address
  const client = clientOf(owner, { credit: 'prefer' })
  expect((await client.fetch(echo('early'))).payment.status).toBe('drawn')
  // Not final: it cannot be put at stake either.
  await expect(lockBond(client, { node: till.node.url, account: owner, usd: '1', days: 1 })).rejects.toMatchObject({
    details: { problem: { code: 'credit_unavailable' } },
  })
  const { rows } = await till.db.database.query<{ transaction: Hex; block: bigint }>(
    `select '0x' || encode(transaction, 'hex') as transaction, block_number as block from payment where payer = $1`,
    [wallet],
  )
  await control.holdMining()
  const depth = control.head().number - Number(rows[0]?.block) + 1
  await control.reorg(depth, { drop: [rows[0]?.transaction as Hex] })
  control.setFinalityLag(0)
  const debt = () => balanceOf(till.db.database, accounts.receivable('eip155:8453', wallet, 'credit'))
  await expect.poll(debt, { timeout: 60_000, interval: 250 }).toBe(1_000n)
  expect(await creditOf(wallet)).toBe(0n)
  expect((await fetch(await signRequest(at(echo('free')), {}, { account: owner }))).status).toBe(402)
  await control.releaseMining()
  await topUpCredit(clientOf(owner), { node: till.node.url, usd: '1' })
  expect(await debt()).toBe(0n)
  // Whole dollars less what was drawn, whether or not the first payment has landed again by now.
  expect((await creditOf(wallet)) % 1_000_000n).toBe(999_000n)
  // The dropped transaction is sent again by itself, although nobody uses its wallet.
  const landed = async () => {
    await control.mine(1)
    return creditOf(wallet)
  }
  await expect.poll(landed, { timeout: 60_000, interval: 250 }).toBe(2_999_000n)
}, 120_000)

test('a bond is locked from final money, comes back on request, and is taken by a ruling once', async () => {
  const owner = await withCredit('5')
  const free = clientOf(owner)
  const signer = { node: till.node.url, account: owner }
  await expect
    .poll(
      async () => {
        await till.base.control.mine(100)
        return (await readCredit(free, till.node.url, owner.address)).credit[0]?.refundable_micro
      },
      { timeout: 30_000, interval: 250 },
    )
    .toBe('5000000')
  await expect(lockBond(free, { ...signer, usd: '6', days: 1 })).rejects.toMatchObject({ details: { status: 422 } })
  const bond = await lockBond(free, { ...signer, usd: '2', days: 1 })
  const kept = await lockBond(free, { ...signer, usd: '1', days: 30 })
  expect(await creditOf(owner.address)).toBe(2_000_000n)
  const wallet = owner.address.toLowerCase() as Address
  const active = async () => (await activeBonds(till.db.database, [wallet], Date.now() + 1_000)).get(wallet)?.micro
  expect(await active()).toBe(3_000_000n)
  await expect(releaseBond(free, { ...signer, account: stranger(), bond: bond.id })).rejects.toMatchObject({
    details: { status: 404 },
  })
  // Locked for a day: asking for it back gives a time, and takes its weight away at once.
  expect(await releaseBond(free, { ...signer, bond: bond.id })).toMatchObject({ state: 'releasing' })
  expect(await active()).toBe(1_000_000n)
  const env = operatorEnv()
  await insertTestRuling(till.db.database, 'wash-7', { wallet })
  const slash = (...more: string[]) =>
    assay(['bond', 'slash', kept.id, '--ruling', 'wash-7', '--reason', 'wash trading ring', '--json', ...more], env)
  expect(JSON.parse((await slash('--usd', '0.4')).out)).toMatchObject({ taken_micro: '400000', left_micro: '600000' })
  expect((await slash()).code).toBe(3)
  const { rows } = await till.db.owner.query(`select details from audit_log where action = 'bond.slash'`)
  expect(rows).toMatchObject([{ details: { ruling: 'wash-7', micro: '400000' } }])
  expect(await balanceOf(till.db.database, accounts.revenue('eip155:8453', 'credit.bond_slash'))).toBe(-400_000n)
  expect((await readBonds(free, till.node.url, owner.address)).map(({ state }) => state).sort()).toEqual([
    'locked',
    'releasing',
  ])
})

test('the command line tops up, gives and revokes a mandate, and calls from credit', async () => {
  const owner = { ASSAY_KEY: generatePrivateKey() }
  const agent = { ASSAY_KEY: generatePrivateKey() }
  const ownerWallet = privateKeyToAccount(owner.ASSAY_KEY).address
  await till.base.control.fund(ownerWallet.toLowerCase() as Address, { microUsdc: 5_000_000n })
  const demo = await assay(['credit', 'topup', '2', '--demo', '--json', '--url', till.node.url])
  expect([demo.code, demo.err]).toMatchObject([0, expect.anything()])
  await buy(privateKeyToAccount(owner.ASSAY_KEY), at('/v1/credit/topup?usd=1'))
  const node = ['--url', till.node.url, '--json']
  const balance = await assay(['credit', 'balance', ownerWallet, ...node])
  expect(JSON.parse(balance.out).credit[0]).toMatchObject({ credit_micro: '1000000' })
  const delegate = privateKeyToAccount(agent.ASSAY_KEY).address
  const limits = ['--per-call', '0.01', '--per-day', '0.5', '--total', '1']
  const made = await assay(['mandate', 'create', '--delegate', delegate, '--route', '*', ...limits, ...node], owner)
  const { id } = JSON.parse(made.out) as { id: string }
  const call = () => assay(['credit', 'call', echo('cli'), '--mandate', id, '--max-amount', '0.01', ...node], agent)
  expect(JSON.parse((await call()).out)).toMatchObject({ payment: { status: 'drawn' }, answer: { echo: 'cli' } })
  expect(JSON.parse((await assay(['mandate', 'list', ...node], agent)).out).data).toMatchObject([{ id }])
  expect((await assay(['mandate', 'revoke', id, ...node], owner)).code).toBe(0)
  const refused = await call()
  expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([3, 'mandate_revoked'])
})

async function assay(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const terminal = createTestTerminal({ env })
  const exit = await runCli(args, terminal)
  return { code: exit, out: terminal.stdout(), err: terminal.stderr() }
}

const operatorEnv = (): NodeJS.ProcessEnv => ({
  DATABASE_URL: till.db.databaseUrl,
  BASE_RPC_URLS: till.base.url,
  POLYGON_RPC_URLS: till.polygon.url,
  BASE_URL: till.node.url,
  USER: 'tester',
})

const deploy = (devnet: Devnet, snapshotCache: Address): Promise<Address> =>
  deployContract(devnet, smartWallet, [snapshotCache], privateKeyToAccount(demoAccount('creator').privateKey))

test('credit in another dollar is paid in, drawn on and refunded in that dollar', async () => {
  const usdx = await deployToken(till.base)
  const inUsdx = erc20Asset('eip155:8453', usdx)
  const other = await openTestDatabase()
  const named = { address: getAddress(usdx), symbol: 'USDX', name: 'USD Coin', version: '2' }
  const { url: node } = await till.startAnother({
    ...{ databaseUrl: other.databaseUrl, ownShops: 'till' },
    env: { DOLLARS: JSON.stringify({ base: [named] }) },
  })
  const account = await till.newBuyer(0n)
  await mintToken(till.base, usdx, account.address.toLowerCase() as Address, 2_000_000n)
  const client = createAssayClient({
    ...{ account, baseUrl: node, maxPerCallUsd: '2', credit: 'prefer' },
    networks: [{ network: 'eip155:8453', usdc: usdx, name: 'USD Coin', version: '2' }],
  })
  await topUpCredit(client, { node, usd: '1' })
  const drawn = await client.fetch(echo('drawn'))
  expect([drawn.response.status, drawn.payment.status]).toEqual([200, 'drawn'])
  const { credit } = await readCredit(client, node, account.address)
  expect(credit.map(({ network, credit_micro }) => [network, credit_micro])).toEqual([
    ...[
      ['eip155:8453', '0'],
      [inUsdx, '999000'],
    ],
    ['eip155:137', '0'],
  ])
  const balance = () =>
    till.base
      .request('eth_call', [
        { to: usdx, data: `0x70a08231${account.address.slice(2).toLowerCase().padStart(64, '0')}` },
        'latest',
      ])
      .then((answer) => BigInt(answer as string))
  expect(await balance()).toBe(1_000_000n)
  await until('the payment is final', async () => {
    await till.base.control.mine(1)
    return (await readCredit(client, node, account.address)).credit.every((row) => row.not_final_micro === '0')
  })
  const refunded = await refundCredit(client, { node, account, usd: '0.5', network: inUsdx })
  expect(refunded.refunds.map(({ network, paid_micro }) => [network, paid_micro])).toEqual([[inUsdx, '490000']])
  await until('the refund arrives', async () => {
    await till.base.control.mine(1)
    return (await balance()) === 1_490_000n
  })
  expect((await trialBalance(other.owner)).sumByUnit[inUsdx]).toBe(0n)
  expect(await faultsInBooks(other.owner)).toEqual([])
})
