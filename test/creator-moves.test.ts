import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { creatorDifferences, readCreatorBooks } from '../packages/node/src/shops/attestations/creators/check-books.ts'
import {
  distributorAt,
  leafOf,
  mover,
  validBefore,
} from '../packages/node/src/shops/attestations/creators/distributor.fixture.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import type { Hex } from '../packages/protocol/src/bytes.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { clients } from '../packages/till/src/devnet/test-chain.fixture.ts'
import { balanceDifferences } from '../packages/till/src/ledger/index.ts'
import { openLocalSite } from './harness/local-site.ts'
import { oweCreator } from './harness/owe-creator.ts'
import { postJson } from './harness/post-json.ts'
import { openTill } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const network = 'eip155:8453'
const domain = 'moved.test'
const [owner, stranger] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())]
// Anybody may claim for a wallet; the node's own wallets are busy with its own transactions.
const claimer = privateKeyToAccount(generatePrivateKey())
const ownerAddress = owner.address.toLowerCase() as Address
const newWallet = () => {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAccount(privateKey).address.toLowerCase() as Address }
}

const site = await openLocalSite({ '/': '<html><head><title>One</title></head><body><p>Words.</p></body></html>' })
const till = await openTill({
  ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'],
  env: {
    DEMO_HOSTS: `${domain}=127.0.0.1:${site.port}`,
    CITATIONS:
      '{"root_seconds":1,"threshold_usd":"1000","release_days":0,"claim_delay_seconds":1,"move_delay_seconds":8}',
  },
})
await till.base.control.fund(claimer.address, { wei: 10n ** 18n, microUsdc: 0n })
const { claim } = await call('/v1/sources/register', { domain, wallet: owner.address })
site.files.set('/.well-known/citation-market.json', JSON.stringify(claim.prove.file.content))
const wallet_signature = await owner.signTypedData(claim.wallet_statement)
const proven = await call(`/v1/sources/${domain}/verify`, { wallet: owner.address, wallet_signature })
expect(proven).toMatchObject({ state: 'proven', payout: { wallet: owner.address } })
afterAll(async () => {
  await till?.close()
  await site?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
async function call(path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${till.node.url}${path}`, {
    ...(body === undefined ? {} : postJson(body)),
  })
  return response.json()
}

async function ask(from: Address, account = owner): Promise<Response> {
  const body = JSON.stringify({ from })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  return fetch(await signRequest(`${till.node.url}/v1/sources/${domain}/move`, init, { account }))
}

const chainOf = async (wallet: Address) => (await call(`/v1/creators/${wallet}`)).chains[0]
const stateOf = async (wallet: Address) =>
  (await call(`/v1/creators/${wallet}`)).moves.find((move: { from: string }) => move.from.toLowerCase() === wallet)
    ?.state
const claimable = (wallet: Address, micro: string) =>
  until(`${micro} of ${wallet} can be claimed`, async () => (await chainOf(wallet)).claimable_micro === micro)

async function contractOf() {
  const { rows } = await till.db.database.query<{ contract: Address }>('select contract from creator_root limit 1')
  return distributorAt(till.base, rows[0]?.contract as Address)
}

async function claimAll(wallet: Address): Promise<void> {
  const { claims } = await chainOf(wallet)
  expect(claims.length).toBeGreaterThan(0)
  for (const { to, data } of claims as { to: Address; data: Hex }[])
    await clients(till.base).wallet.sendTransaction({ account: claimer, to, data, gas: 2_000_000n })
}

async function expectSoundBooks(): Promise<void> {
  const contract = await contractOf()
  await until('rows, ledger and contract agree', async () => {
    const books = await readCreatorBooks(till.db.database, network)
    return Object.keys(creatorDifferences(books, [await contract.state()])).length === 0
  })
  expect(await balanceDifferences(till.db.database)).toEqual([])
}

test('money of a lost wallet goes to the one that the domain names now: what is on chain and what is not yet', async () => {
  const lost = newWallet()
  await oweCreator(till.db.database, lost.address, domain, 5_000n)
  // Of another domain of the same wallet: none of the new owner's business.
  await oweCreator(till.db.database, lost.address, 'other.test', 40n)
  await claimable(lost.address, '5040')
  expect((await ask(lost.address, stranger)).status).toBe(403)
  expect((await ask(newWallet().address)).status).toBe(400)
  const bare = { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"from":"${lost.address}"}` }
  expect((await fetch(`${till.node.url}/v1/sources/${domain}/move`, bare)).status).toBe(401)
  const asked = await ask(lost.address)
  expect(asked.status, await asked.clone().text()).toBe(200)
  await oweCreator(till.db.database, lost.address, domain, 700n)
  await until('announced', async () => (await stateOf(lost.address)) === 'pending')
  expect((await chainOf(lost.address)).claims.map((claim: { domain: string }) => claim.domain)).toEqual(['other.test'])
  await until('moved', async () => (await stateOf(lost.address)) === 'moved')
  await claimAll(lost.address)
  const contract = await contractOf()
  expect(await contract.balance(ownerAddress)).toBe(5_000n)
  expect(await contract.balance(lost.address)).toBe(40n)
  await claimable(ownerAddress, '700')
  await claimAll(ownerAddress)
  expect(await contract.balance(ownerAddress)).toBe(5_700n)
  await expectSoundBooks()
})

test('the earlier wallet refuses with one transaction, and keeps everything', async () => {
  const alive = newWallet()
  await oweCreator(till.db.database, alive.address, domain, 900n)
  await claimable(alive.address, '900')
  expect((await ask(alive.address)).status).toBe(200)
  await oweCreator(till.db.database, alive.address, domain, 60n)
  await until('announced', async () => (await stateOf(alive.address)) === 'pending')
  const contract = await contractOf()
  await contract.send('refuseMoves', [[leafOf(alive.address, 1n, domain).account]], alive.privateKey)
  await until('refused', async () => (await stateOf(alive.address)) === 'refused')
  // What was held while the move was pending is allotted to the wallet as before.
  await claimable(alive.address, '960')
  await claimAll(alive.address)
  expect(await contract.balance(alive.address)).toBe(960n)
  expect(await ask(alive.address).then((answer) => answer.json())).toMatchObject({ moves: [{ state: 'refused' }] })
  await expectSoundBooks()
})

test('a move that was signed with a stolen mover key is an alarm at once, and can be refused', async () => {
  const robbed = newWallet()
  await oweCreator(till.db.database, robbed.address, domain, 300n)
  await claimable(robbed.address, '300')
  const contract = await contractOf()
  const leaf = leafOf(robbed.address, 300n, domain)
  const thief = newWallet().address
  const place = { chainId: till.base.chainId, contract: contract.contract }
  const signature = mover.sign(place, { ...leaf, to: thief, validBefore })
  await contract.send('requestMove', [leaf.account, leaf.wallet, thief, validBefore, signature])
  await until('noticed', async () => {
    const { rows } = await till.db.database.query<{ unknown: boolean }>(
      'select foreign_request as unknown from creator_move where wallet = $1',
      [robbed.address],
    )
    return rows[0]?.unknown === true
  })
  const metrics = await (await fetch(`${till.node.url}/metrics`)).text()
  expect(metrics).toContain('assay_alarms_total{alarm="creator_move_unknown"} 1')
  await contract.send('refuseMoves', [[leaf.account]], robbed.privateKey)
  await until('refused', async () => (await stateOf(robbed.address)) === 'refused')
  await claimAll(robbed.address)
  expect(await contract.balance(robbed.address)).toBe(300n)
  expect(await contract.balance(thief)).toBe(0n)
  await expectSoundBooks()
})

test('a wallet that cannot receive delays nobody, and keeps what it was allotted', async () => {
  const [blocked, fine] = [newWallet().address, newWallet().address]
  const contract = await contractOf()
  await contract.block(blocked)
  for (const wallet of [blocked, fine])
    await till.db.owner.query(
      'insert into creator_setting (wallet, threshold_micro, updated_at) values ($1, 1, now())',
      [wallet],
    )
  // More than the other, so that its turn comes first.
  await oweCreator(till.db.database, blocked, domain, 9_000n)
  await oweCreator(till.db.database, fine, domain, 50n)
  await until('the other is paid', async () => (await contract.balance(fine)) === 50n)
  await until('it is tried again later', async () => {
    const { rowCount } = await till.db.database.query(
      'select from creator_balance where wallet = $1 and push_after > now()',
      [blocked],
    )
    return rowCount === 1
  })
  expect(await chainOf(blocked)).toMatchObject({ claimable_micro: '9000', claimed_micro: '0' })
  await expectSoundBooks()
})
