import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { RunningNode } from '../packages/node/src/node.ts'
import { creatorDifferences, readCreatorBooks } from '../packages/node/src/shops/attestations/creators/check-books.ts'
import { distributorAt, leafOf } from '../packages/node/src/shops/attestations/creators/distributor.fixture.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import type { Hex } from '../packages/protocol/src/bytes.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { clients } from '../packages/till/src/devnet/test-chain.fixture.ts'
import { balanceDifferences } from '../packages/till/src/ledger/index.ts'
import { type LocalSite, openLocalSite } from './harness/local-site.ts'
import { oweCreator } from './harness/owe-creator.ts'
import { postJson } from './harness/post-json.ts'
import { openTill, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

vi.setConfig({ testTimeout: 120_000 })
const network = 'eip155:8453'
const domain = 'rotated.test'
const owner = privateKeyToAccount(generatePrivateKey())
const ownerAddress = owner.address.toLowerCase() as Address
const newWallet = () => privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Address
const newCustody = generatePrivateKey()
/** The account that pays the gas of a claim: not the node's own wallet, whose nonces are its own. */
const sender = privateKeyToAccount(generatePrivateKey())
const shops = ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'] as const

let till: TillFixture
let site: LocalSite
let node: RunningNode
let env: Record<string, string>
beforeAll(async () => {
  site = await openLocalSite({ '/': '<html><head><title>One</title></head><body><p>Words.</p></body></html>' })
  env = {
    DEMO_HOSTS: `${domain}=127.0.0.1:${site.port}`,
    CITATIONS:
      '{"root_seconds":1,"threshold_usd":"1000","release_days":0,"claim_delay_seconds":1,"move_delay_seconds":4}',
  }
  till = await openTill({ ownShops: [...shops], env })
  node = till.node
  await till.base.control.fund(sender.address.toLowerCase() as Address, { microUsdc: 0n, wei: 10n ** 18n })
  const { claim } = await call('/v1/sources/register', { domain, wallet: owner.address })
  site.files.set('/.well-known/citation-market.json', JSON.stringify(claim.prove.file.content))
  const wallet_signature = await owner.signTypedData(claim.wallet_statement)
  await call(`/v1/sources/${domain}/verify`, { wallet: owner.address, wallet_signature })
}, 120_000)
afterAll(async () => {
  await till?.close()
  await site?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
async function call(path: string, body?: unknown): Promise<any> {
  return (await fetch(`${node.url}${path}`, body === undefined ? {} : postJson(body))).json()
}
const chainOf = async (wallet: Address) => (await call(`/v1/creators/${wallet}`)).chains[0]
const claimable = (wallet: Address, micro: string) =>
  until(`${micro} of ${wallet} can be claimed`, async () => (await chainOf(wallet)).claimable_micro === micro)

async function claimAll(wallet: Address): Promise<Address[]> {
  const { claims } = (await chainOf(wallet)) as { claims: { to: Address; data: Hex }[] }
  for (const { to, data } of claims)
    await clients(till.base).wallet.sendTransaction({ account: sender, to, data, gas: 2_000_000n })
  return claims.map(({ to }) => to.toLowerCase() as Address)
}

const assay = async (...args: string[]) => {
  const terminal = createTestTerminal({
    env: {
      DATABASE_URL: till.db.databaseUrl,
      BASE_RPC_URLS: till.base.url,
      POLYGON_RPC_URLS: till.polygon.url,
      ...env,
    },
  })
  const code = await runCli(args, terminal)
  return { code, output: `${terminal.stdout()}${terminal.stderr()}` }
}
type Listed = { network: string; contract: Address; state: string }
const distributors = async () => {
  const { data } = JSON.parse((await assay('creators', 'distributors', '--json')).output) as { data: Listed[] }
  return data.filter((one) => one.network === network)
}

async function expectSoundBooks(): Promise<void> {
  await until('rows, ledger and contracts agree', async () => {
    const books = await readCreatorBooks(till.db.database, network)
    const known = (await distributors()).filter(({ state }) => state !== 'wanted')
    const states = await Promise.all(known.map(({ contract }) => distributorAt(till.base, contract).state()))
    return Object.keys(creatorDifferences(books, states)).length === 0
  })
  expect(await balanceDifferences(till.db.database)).toEqual([])
}

const [patient, lost] = [newWallet(), newWallet()]
let first: Address
let second: Address

test('after the theft of the custody key what was allotted is paid by the old contract, and new roots wait for the operator', async () => {
  await oweCreator(till.db.database, patient, 'a.test', 4_000n)
  await oweCreator(till.db.database, lost, domain, 900n)
  await claimable(patient, '4000')
  await claimable(lost, '900')
  const [used] = await distributors()
  expect(used?.state).toBe('current')
  first = used?.contract as Address

  await node.stop()
  const wallet = privateKeyToAccount(newCustody).address
  env = { ...env, CUSTODY: wallet, CUSTODY_KEYS: newCustody }
  const changed = await assay('payees', 'change', '--reason', 'the custody key was stolen')
  expect(changed.code, changed.output).toBe(0)
  await till.base.control.fund(wallet.toLowerCase() as Address, { microUsdc: 1_000_000n, wei: 0n })
  node = await till.startAnother({ env })

  await oweCreator(till.db.database, patient, 'a.test', 50n)
  await until('the new contract is wanted', async () => (await distributors()).length === 2)
  second = (await distributors()).find(({ state }) => state === 'wanted')?.contract as Address
  const metrics = async () => (await fetch(`${node.url}/metrics`)).text()
  await until('the alarm rings', async () => /alarm="distributor_not_accepted"/.test(await metrics()))
  const before = await chainOf(patient)
  expect([before.distributor.toLowerCase(), before.earlier_distributors]).toEqual([first, []])
  expect(before).toMatchObject({ accrued_micro: '50', claimable_micro: '4000' })
  const { rowCount } = await till.db.database.query(`select from creator_root where contract = $1`, [second])
  expect(rowCount).toBe(0)
})

test('once it is accepted new roots go there, and a creator claims from both with what the node shows', async () => {
  expect((await assay('creators', 'accept-distributor', newWallet(), '--reason', 'a typing error')).code).toBe(2)
  const accepted = await assay('creators', 'accept-distributor', second, '--reason', 'the custody key was stolen')
  expect(accepted.code, accepted.output).toBe(0)
  await claimable(patient, '4050')
  const shown = await chainOf(patient)
  expect(shown.distributor.toLowerCase()).toBe(second)
  expect(shown.earlier_distributors.map((one: string) => one.toLowerCase())).toEqual([first])
  expect((await claimAll(patient)).sort()).toEqual([first, second].sort())
  expect(await distributorAt(till.base, first).balance(patient)).toBe(4_050n)
  await expectSoundBooks()
  const epochOf = async (query = '') => call(`/v1/creators/epochs/${network}/1${query}`)
  expect((await epochOf()).distributor.toLowerCase()).toBe(second)
  expect((await epochOf(`?distributor=${first}`)).distributor.toLowerCase()).toBe(first)
  const { rows } = await till.db.database.query<{ details: { reason: string } }>(
    `select details from audit_log where action = 'creators.distributor'`,
  )
  expect(rows.map(({ details }) => details.reason)).toEqual(['the custody key was stolen'])
})

test('a lost wallet’s money is moved at both contracts', async () => {
  await oweCreator(till.db.database, lost, domain, 70n)
  await claimable(lost, '970')
  const body = JSON.stringify({ from: lost })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const asked = await fetch(await signRequest(`${node.url}/v1/sources/${domain}/move`, init, { account: owner }))
  expect(asked.status, await asked.clone().text()).toBe(200)
  await oweCreator(till.db.database, lost, domain, 8n)
  const states = async () =>
    (await call(`/v1/creators/${lost}`)).moves.map(({ state }: { state: string }) => state).join(' ')
  await until('both are in effect', async () => (await states()) === 'moved moved')
  await claimAll(lost)
  await claimable(ownerAddress, '8')
  await claimAll(ownerAddress)
  const contract = distributorAt(till.base, second)
  expect([await contract.balance(ownerAddress), await contract.balance(lost)]).toEqual([978n, 0n])
  await expectSoundBooks()
})

test('the thief of the old key gains nothing at either contract, and does not stop the payouts of others', async () => {
  const thief = newWallet()
  const old = distributorAt(till.base, first)
  await oweCreator(till.db.database, patient, 'a.test', 300n)
  await claimable(patient, '300')
  const held = async () => [await old.balance(first), await old.balance(second)]
  const [, allotted] = await held()
  for (let n = 0; n < 3; n += 1) {
    await till.base.control.fund(demoAccount('custody').address.toLowerCase() as Address, { microUsdc: 5n, wei: 0n })
    await old.advance([leafOf(thief, 5n, `thief-${n}.test`)])
    // The old key signs nothing that the new contract takes.
    const foreign = distributorAt(till.base, second)
    await expect(foreign.advance([leafOf(thief, 5n, 'x.test')])).rejects.toThrow()
  }
  expect(await held()).toEqual([15n, allotted])
  const again = newWallet()
  await oweCreator(till.db.database, again, 'a.test', 20n)
  await claimable(again, '20')
  await claimAll(again)
  await claimAll(patient)
  expect([await old.balance(again), await old.balance(patient)]).toEqual([20n, 4_350n])
  await expectSoundBooks()
})
