import { encodeFunctionData, getAddress, type Hex, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { erc20Asset } from '../packages/protocol/src/asset.ts'
import { permit2Domain, permit2Proxies, permit2Types } from '../packages/protocol/src/typed-data/permit2.ts'
import { authorizationTypes } from '../packages/protocol/src/typed-data/transfer-authorization.ts'
import { createAssayClient } from '../packages/sdk/src/index.ts'
import { multicall3Address } from '../packages/till/src/chain/index.ts'
import { aggregate3Call, transferCall } from '../packages/till/src/chain/wallet/authorization-calls.ts'
import { devnetEndpoint } from '../packages/till/src/devnet/endpoint.ts'
import { contractArtifacts, demoAccount, startDevnet } from '../packages/till/src/devnet/index.ts'
import { ConfigError, createTill, local, type TillOptions } from '../packages/till/src/index.ts'
import { nowSeconds, systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../packages/till/src/kernel/metrics.ts'
import { trialBalance } from '../packages/till/src/ledger/index.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'
import { testNetwork } from '../packages/till/src/testing/test-till.ts'
import { faultsInBooks } from './harness/books.ts'
import { deployToken, mintToken } from './harness/deploy-token.ts'
import { approvePermit2 } from './harness/permit2-client.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { until } from './harness/until.ts'

const base = 'eip155:8453'
const abi = contractArtifacts.testUsdc.abi
const db = await useTestDatabase()
const chain = await startDevnet({ chainId: 8453, port: 0, clock: systemClock, log: silentLog })
chain.control.setFinalityLag(0)

const [usdx, usdp, stranger] = [await deployToken(chain), await deployToken(chain), await deployToken(chain)]
const [inUsdx, inUsdp] = [erc20Asset(base, usdx), erc20Asset(base, usdp)]
const alarms: string[] = []
const options: TillOptions = {
  database: db.databaseUrl,
  publicUrl: 'http://seller.test',
  log: silentLog,
  demo: true,
  jobs: 'cron',
  jobsSecondsMax: 600,
  payToExclusive: true,
  networks: {
    base: {
      ...testNetwork([devnetEndpoint(chain)]),
      dollars: [
        { address: getAddress(usdx), symbol: 'USDX', name: 'USD Coin', version: '2' },
        { address: getAddress(usdp), symbol: 'USDP' },
      ],
    },
  },
  facilitator: local({ keys: [demoAccount('settler').privateKey] }),
  custodyKeys: [demoAccount('custody').privateKey],
  metrics: {
    ...silentMetrics,
    count: (name, labels) => {
      const { alarm } = labels ?? {}
      if (name === 'alarms' && alarm && !alarms.includes(alarm)) alarms.push(alarm)
    },
  },
}
const till = await createTill(options)
afterAll(async () => {
  await till.close()
  await chain.stop()
})
till.sell(
  { id: 'test.many', path: '/many', price: '0.01', networks: ['base', 'base/USDX', 'base/USDP'] },
  async () => ({
    ...{ answer: 42 },
  }),
)
till.sell({ id: 'test.plain', path: '/plain', price: '0.01' }, async () => ({ answer: 42 }))
await till.runJobs()

type Entry = { scheme: string; network: string; asset: Hex; payTo: Hex; amount: string; extra: Record<string, string> }

async function acceptsOf(path: string): Promise<Entry[]> {
  const response = await till.fetch(new Request(`http://seller.test${path}`))
  const header = response.headers.get('payment-required') ?? ''
  expect(header.length).toBeLessThan(3_072)
  return JSON.parse(Buffer.from(header, 'base64').toString()).accepts
}

const entryIn = async (token: Address, path = '/many') =>
  (await acceptsOf(path)).find(({ asset }) => asset.toLowerCase() === token) as Entry

const mint = (token: Address, to: Address, micro: bigint) => mintToken(chain, token, to, micro)

async function newBuyer(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.control.fund(account.address.toLowerCase() as Address, { microUsdc: 1_000_000n })
  for (const token of [usdx, usdp]) await mint(token, account.address.toLowerCase() as Address, 1_000_000n)
  return account
}

const newNonce = () => toHex(crypto.getRandomValues(new Uint8Array(32)))

/** `token`: whose authorization it is, whatever the entry says. */
async function authorize(buyer: PrivateKeyAccount, entry: Entry, nonce = newNonce(), token: Hex = entry.asset) {
  const message = {
    ...{ from: buyer.address, to: entry.payTo, value: BigInt(entry.amount), validAfter: 0n, nonce },
    validBefore: BigInt(nowSeconds(systemClock) + 60),
  }
  const signature = await buyer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: token },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return { message, signature, authorization: textsOf(message) }
}

const textsOf = (message: object) =>
  Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]))

const send = (accepted: object, payload: object, path = '/many') => {
  const header = Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload })).toString('base64')
  return till.fetch(new Request(`http://seller.test${path}`, { headers: { 'payment-signature': header } }))
}

async function pay(buyer: PrivateKeyAccount, entry: Entry, nonce = newNonce(), path = '/many') {
  const { signature, authorization } = await authorize(buyer, entry, nonce)
  return send(entry, { signature, authorization }, path)
}

async function permit(buyer: PrivateKeyAccount, entry: Entry, nonce: bigint) {
  const deadline = nowSeconds(systemClock) + 60
  const spender = permit2Proxies.exact
  const permitted = { token: entry.asset, amount: BigInt(entry.amount) }
  const signature = await buyer.signTypedData({
    domain: permit2Domain(8453),
    types: permit2Types('exact'),
    primaryType: 'PermitWitnessTransferFrom',
    message: { permitted, spender, nonce, deadline: BigInt(deadline), witness: { to: entry.payTo, validAfter: 0n } },
  })
  return {
    signature,
    permit2Authorization: {
      ...{ from: buyer.address, spender, nonce: nonce.toString(), deadline: deadline.toString() },
      permitted: { token: permitted.token, amount: entry.amount },
      witness: { to: entry.payTo, validAfter: '0' },
    },
  }
}

/** Balances of the accounts in one unit, by name without the network. */
async function booksIn(network: string): Promise<Record<string, bigint>> {
  const { rows } = await trialBalance(db.owner)
  const here = rows.filter(({ name }) => name.endsWith(`@${network}`))
  const unit = network === base ? `${base}/usdc` : network
  expect(here.filter((row) => row.unit !== unit && row.unit !== `${base}/gas`)).toEqual([])
  return Object.fromEntries(here.map(({ name, balanceMicro }) => [name.split('@')[0], balanceMicro]))
}

const balanceIn = async (token: Address, owner: string) =>
  BigInt(
    (await chain.request('eth_call', [
      { to: token, data: encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner as Hex] }) },
      'latest',
    ])) as string,
  )

const transfer = (token: Address, from: PrivateKeyAccount, to: Address, micro: bigint) =>
  sendTransaction(chain, from, {
    to: token,
    data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, micro] }),
  })

/** Rounds of all jobs, each with blocks before it: what is final is known to them a moment later. */
const jobsUntil = (what: string, isSo: () => Promise<boolean>) =>
  until(what, async () => {
    await runJobs()
    return isSo()
  })

async function runJobs() {
  await chain.control.mine(2)
  expect((await till.runJobs()).failed).toEqual([])
}

test('a route offers the dollars that it names, USDC first; one that names none offers USDC', async () => {
  const shown = (await acceptsOf('/many')).map(({ scheme, network, asset, extra }) => [
    scheme,
    network,
    asset.toLowerCase(),
    extra,
  ])
  expect(shown).toEqual([
    ['exact', base, chain.usdc, { name: 'USD Coin', version: '2' }],
    ['exact', base, usdx, { name: 'USD Coin', version: '2' }],
    ['exact', base, usdp, { assetTransferMethod: 'permit2' }],
  ])
  expect((await acceptsOf('/plain')).map(({ asset }) => asset.toLowerCase())).toEqual([chain.usdc])
})

test('a payment in another dollar is kept in its own unit, and its nonce is that of its token', async () => {
  const buyer = await newBuyer()
  const before = await booksIn(base)
  const nonce = newNonce()
  expect((await pay(buyer, await entryIn(usdx), nonce)).status).toBe(200)
  expect(await booksIn(inUsdx)).toMatchObject({ 'onchain:pay_to': 10_000n, 'revenue:test.many': -10_000n })
  expect((await booksIn(base))['onchain:pay_to']).toBe(before['onchain:pay_to'])
  // The same number in another token is another authorization.
  expect((await pay(buyer, await entryIn(chain.usdc), nonce)).status).toBe(200)
  expect((await pay(buyer, await entryIn(usdx), nonce)).status).toBe(409)
  expect([await balanceIn(usdx, buyer.address), await balanceIn(chain.usdc, buyer.address)]).toEqual([
    990_000n,
    990_000n,
  ])
})

test('a payment in one asset never satisfies terms in another, and an unknown token is not taken', async () => {
  const buyer = await newBuyer()
  const [inDollar, plain] = [await entryIn(usdx), await entryIn(chain.usdc, '/plain')]
  const cases: [Entry, Hex, string][] = [
    [await entryIn(chain.usdc), usdx, '/many'],
    [inDollar, chain.usdc, '/many'],
    // Not sold in it.
    [{ ...plain, asset: usdx }, usdx, '/plain'],
    [{ ...plain, asset: stranger }, stranger, '/plain'],
    [{ ...inDollar, network: inUsdx }, usdx, '/many'],
    // It has no EIP-3009 as far as the operator says.
    [{ ...inDollar, asset: usdp }, usdp, '/many'],
  ]
  for (const [entry, token, path] of cases) {
    const { signature, authorization } = await authorize(buyer, entry, newNonce(), token)
    expect((await send(entry, { signature, authorization }, path)).status, `${entry.asset} ${token}`).toBe(402)
  }
  expect(await balanceIn(usdx, buyer.address)).toBe(1_000_000n)
})

test('a token without EIP-3009 is paid by Permit2, and a Permit2 nonce counts for all assets', async () => {
  const buyer = await newBuyer()
  for (const token of [usdp, usdx]) await sendTransaction(chain, buyer, { to: token, data: approvePermit2(1_000_000n) })
  const entry = await entryIn(usdp)
  expect((await send(entry, await permit(buyer, entry, 7n))).status).toBe(200)
  expect(await booksIn(inUsdp)).toMatchObject({ 'onchain:pay_to': 10_000n, 'revenue:test.many': -10_000n })
  const again = { ...(await entryIn(usdx)), extra: entry.extra }
  expect((await send(again, await permit(buyer, again, 7n))).status).toBe(409)
  expect((await send(again, await permit(buyer, again, 8n))).status).toBe(200)
  expect(await balanceIn(usdx, buyer.address)).toBe(990_000n)
})

test('the client pays with the asset that its policy names, within the limit of that asset', async () => {
  const account = await newBuyer()
  const buyWith = (network: object) =>
    createAssayClient({
      ...{ account, baseUrl: 'http://seller.test', maxPerCallUsd: '1', fetch: async (request) => till.fetch(request) },
      networks: [{ network: base, usdc: usdx, name: 'USD Coin', version: '2', ...network }],
      paymentMethods: { permit2: true },
    }).fetch('/many')
  await expect(buyWith({ maxPerCallUsd: '0.009' })).rejects.toThrow('0.009 of this asset allowed')
  expect((await buyWith({ maxPerCallUsd: '0.01' })).response.status).toBe(200)
  await sendTransaction(chain, account, { to: usdp, data: approvePermit2(1_000_000n) })
  expect((await buyWith({ usdc: usdp, name: '', version: '' })).response.status).toBe(200)
  const left = await Promise.all([chain.usdc, usdx, usdp].map((token) => balanceIn(token, account.address)))
  expect(left).toEqual([1_000_000n, 990_000n, 990_000n])
})

test('equal amounts of two assets in one block are not confused', async () => {
  const [one, other] = [await newBuyer(), await newBuyer()]
  const before = [await booksIn(base), await booksIn(inUsdx)]
  // The same nonce, side by side: each token has its own.
  const nonce = newNonce()
  const answers = await Promise.all([
    ...[pay(one, await entryIn(chain.usdc), nonce), pay(one, await entryIn(usdx), nonce)],
    pay(other, await entryIn(usdx)),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const after = [await booksIn(base), await booksIn(inUsdx)]
  const grown = after.map((books, index) => (books['onchain:pay_to'] ?? 0n) - (before[index]?.['onchain:pay_to'] ?? 0n))
  expect(grown).toEqual([10_000n, 20_000n])
})

test('what nobody claimed is found in its asset: unmatched, or credit of the signer; a stranger’s token is nothing', async () => {
  await runJobs()
  const buyer = await newBuyer()
  const payTo = demoAccount('operator').address
  // The same nonce and amount of two assets, in one transaction.
  const nonce = newNonce()
  const calls = await Promise.all(
    [usdx, chain.usdc].map(async (token) => {
      const { message, signature } = await authorize(buyer, await entryIn(token), nonce)
      return { target: token, data: transferCall(message as never, signature) }
    }),
  )
  await sendTransaction(chain, buyer, { to: multicall3Address, data: aggregate3Call(calls), gas: 500_000n })
  await transfer(usdx, buyer, payTo, 5_000n)
  await transfer(chain.usdc, buyer, payTo, 4_000n)
  // Too little for a row each, from a wallet without a claim: one sum for each asset, of the same blocks.
  const poor = await newBuyer()
  for (const token of [usdx, chain.usdc]) await transfer(token, poor, payTo, 300n)
  await mint(stranger, payTo, 77_000n)
  const wallet = buyer.address.toLowerCase()
  for (const network of [inUsdx, base])
    await jobsUntil('what arrived is posted', async () => 'unmatched:pay_to' in (await booksIn(network)))
  expect(await booksIn(inUsdx)).toMatchObject({ [`credit:${wallet}`]: -10_000n, 'unmatched:pay_to': -5_300n })
  expect(await booksIn(base)).toMatchObject({ [`credit:${wallet}`]: -10_000n, 'unmatched:pay_to': -4_300n })
  expect(Object.keys((await trialBalance(db.owner)).sumByUnit).filter((unit) => unit.includes(stranger))).toEqual([])
})

test('a refund is paid in the asset that was paid, out of money of that asset', async () => {
  const buyer = await newBuyer()
  expect((await pay(buyer, await entryIn(usdx))).status).toBe(200)
  const { rows } = await db.owner.query<{ id: string }>(`select id from payment where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  await till.refund({ paymentId: rows[0]?.id ?? '', reason: 'test', by: 'ann' })
  const operator = privateKeyToAccount(demoAccount('operator').privateKey)
  // USDC in custody pays no debt in another asset.
  await jobsUntil('the refund waits for money', async () => alarms.includes('payouts_unfunded'))
  expect(await balanceIn(usdx, buyer.address)).toBe(990_000n)
  await transfer(usdx, operator, demoAccount('custody').address, 20_000n)
  await jobsUntil('the refund is final', async () => (await booksIn(inUsdx))['clearing:payouts'] === 0n)
  expect(await balanceIn(usdx, buyer.address)).toBe(1_000_000n)
  expect(await booksIn(inUsdx)).toMatchObject({ 'onchain:custody': 10_000n, 'clearing:payouts': 0n })
})

test('a token without EIP-3009 is not refunded by the till, and says so', async () => {
  const { rows } = await db.owner.query<{ id: string }>(`select id from payment where network = $1 limit 1`, [
    ...[inUsdp],
  ])
  await till.refund({ paymentId: rows[0]?.id ?? '', reason: 'test', by: 'ann' })
  const refund = () => db.owner.query(`select state, outcome from refund where payment_id = $1`, [rows[0]?.id])
  await jobsUntil('it is decided', async () => (await refund()).rows[0]?.['state'] !== 'asked')
  expect(await booksIn(inUsdp)).toEqual({ 'onchain:pay_to': 20_000n, 'revenue:test.many': -20_000n })
  expect((await refund()).rows).toEqual([
    { state: 'refused', outcome: 'this token has no EIP-3009; pay it back by hand' },
  ])
})

test('every unit balances, and what is on chain is in the books', async () => {
  await runJobs()
  expect(alarms).toEqual(['payouts_unfunded'])
  expect(await faultsInBooks(db.owner)).toEqual([])
})

test('a dollar that is not what the options say stops the start', async () => {
  const start = (dollars: object[]) =>
    createTill({ ...options, networks: { base: { ...options.networks['base'], dollars } as never } }).then(
      () => 'started',
      (error: unknown) => (error instanceof ConfigError ? error.problems.join('\n') : String(error)),
    )
  const named = { address: getAddress(usdx), symbol: 'USDX' }
  expect(await start([{ ...named, name: 'Other', version: '2' }])).toContain(
    'name() of the asset is USD Coin, expected Other',
  )
  expect(await start([{ ...named, address: getAddress(demoAccount('buyer').address) }])).toContain(
    'decimals() of the asset',
  )
  expect(await start([named, { ...named, address: getAddress(usdp) }])).toContain('two assets are called USDX')
  expect(await start([{ ...named, address: getAddress(chain.usdc) }])).toContain('is named twice')
  expect(await start([{ ...named, address: usdx.slice(0, 40) }])).toContain('EIP-55 checksum')
  expect(await start([{ ...named, name: 'USD Coin' }])).toContain('needs its EIP-712 name and version')
})
