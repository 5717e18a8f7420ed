import { getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { accountName, commodity } from '../packages/cli/src/books/beancount.ts'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { shopNames } from '../packages/node/src/shop-list.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { createAssayClient, readDemoNetworks, signRequest, topUpCredit } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { accounts, balanceOf, trialBalance } from '../packages/till/src/ledger/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { postJson } from './harness/post-json.ts'
import { echoPath } from './harness/till-fixture.ts'
import { tokenBalance } from './harness/token-balance.ts'
import { until } from './harness/until.ts'
import { openJobHarness } from './kill-points/job-harness.ts'
import { openSites, siteName } from './kill-points/work-paths/support.ts'

const network = 'eip155:8453'
const cold = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const { privateKey, address: payTo } = demoAccount('operator')

const sites = await openSites(1)
const harness = await openJobHarness('shops', {
  DEMO_HOSTS: sites.demoHosts,
  WITHDRAW_TO: `${cold},${getAddress(payTo)}`,
  PAYOUTS: '{"daily_limit_usd":"10000000"}',
})
afterAll(async () => {
  expect(await faultsInBooks(harness.till.db.owner)).toEqual([])
  await harness.close()
  await sites.close()
})

async function assay(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { till } = harness
  const env = {
    DATABASE_URL: till.db.databaseUrl,
    BASE_RPC_URLS: till.base.url,
    POLYGON_RPC_URLS: till.polygon.url,
    WITHDRAW_TO: `${cold},${getAddress(payTo)}`,
    USER: 'tester',
  }
  const terminal = createTestTerminal({ env })
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

const custody = () => harness.till.node.config.networks[0]?.custody as Address
/** All that has happened is final, posted and compared with the chain. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await settleOnce()
  await until('every payout is posted', async () => {
    const { rows } = await harness.till.db.owner.query(
      `select 1 from payout where state in ('waiting', 'queued', 'signed')
       union all select 1 from withdrawal where state = 'asked'`,
    )
    if (rows.length > 0) await settleOnce()
    return rows.length === 0
  })
}
async function settleOnce(): Promise<void> {
  await harness.mine()
  await harness.run('payments.finality', 'payouts.withdraw', 'payouts.run', 'payments.reconcile')
}
async function expectBooksOnChain(): Promise<void> {
  const { db, base } = harness.till
  expect(await balanceOf(db.owner, accounts.onchain(network, 'custody'))).toBe(await tokenBalance(base, custody()))
  expect(await balanceOf(db.owner, accounts.onchain(network, 'pay_to'))).toBe(await tokenBalance(base, payTo))
  const text = await (await fetch(`${harness.till.node.address}/metrics`)).text()
  expect(text.split('\n').filter((line) => line.startsWith('assay_alarms_total'))).toEqual([])
}
/** What every account of others says is owed, read from the entries one by one. */
async function owedToOthers(): Promise<bigint> {
  const { rows } = await trialBalance(harness.till.db.owner)
  return rows
    .filter(
      ({ unit, kind, name }) => unit === `${network}/usdc` && kind === 'liability' && !name.startsWith('operator:'),
    )
    .reduce((sum, { balanceMicro }) => sum - balanceMicro, 0n)
}

test('an operator sells in several shops and withdraws what is its own, and nothing else', async () => {
  const { till } = harness
  await harness.run('payments.reconcile')
  const buyer = await till.newBuyer(2_000_000_000n)
  await harness.paid(buyer, `${echoPath}?message=one`)
  const attest = { source_url: `http://${siteName(0)}/page`, agent_wallet: buyer.address }
  for (let n = 0; n < 3; n += 1) await harness.paid(buyer, '/v1/cite/attest', postJson(attest))
  const client = createAssayClient({
    account: buyer,
    baseUrl: till.node.url,
    networks: await readDemoNetworks(till.node.url),
    maxPerCallUsd: '1000',
  })
  await topUpCredit(client, { node: till.node.url, usd: '5' })
  for (let n = 0; n < 4; n += 1) {
    const spent = await fetch(await signRequest(`${till.node.url}${echoPath}?message=${n}`, {}, { account: buyer }))
    expect(spent.status).toBe(200)
  }
  await harness.untilFinal(buyer.address)
  await settle()

  const before = await tokenBalance(till.base, custody())
  const owed = await owedToOthers()
  expect(owed).toBeGreaterThan(5_000_000n)
  const tooMuch = await assay('payouts', 'withdraw', '--to', cold, '--amount', '999999999', '--wait', '0', '--json')
  expect(tooMuch.code).toBe(0)
  await settle()
  const refused = JSON.parse((await assay('payouts', 'withdrawable', '--json')).out)
  expect(refused.withdrawals[0]).toMatchObject({ state: 'refused' })
  expect((await assay('payouts', 'withdraw', '--to', buyer.address, '--all', '--wait', '0')).code).toBe(3)

  expect((await assay('payouts', 'withdraw', '--to', cold, '--all', '--wait', '0')).code).toBe(0)
  await settle()
  const taken = await tokenBalance(till.base, cold.toLowerCase())
  const { reserved_micro: reserved } = refused.data.find((row: { network: string }) => row.network === network)
  expect(taken).toBe(before - owed - BigInt(reserved))
  expect(await tokenBalance(till.base, custody())).toBe(owed + BigInt(reserved))
  await expectBooksOnChain()
}, 120_000)

test('what is withdrawn to PAY_TO stays in the books', async () => {
  const { till } = harness
  const buyer = await till.newBuyer(20_000_000n)
  const attest = { source_url: `http://${siteName(0)}/page`, agent_wallet: buyer.address }
  await harness.paid(buyer, '/v1/cite/attest', postJson(attest))
  await harness.untilFinal(buyer.address)
  await settle()
  const before = await tokenBalance(till.base, payTo)
  const body = { network, to: payTo, amount_usd: '0.0001' }
  const account = privateKeyToAccount(privateKey)
  const url = `${till.node.url}/v1/operator/withdrawals`
  const asked = await fetch(await signRequest(url, postJson(body), { account }))
  expect([asked.status, await asked.json()]).toMatchObject([200, { state: 'asked' }])
  await settle()
  expect(await tokenBalance(till.base, payTo)).toBe(before + 100n)
  await expectBooksOnChain()
  const shown = await fetch(await signRequest(`${till.node.url}/v1/operator/overview`, {}, { account }))
  const { withdrawals } = (await shown.json()) as { withdrawals: { newest: unknown[]; custody: unknown[] } }
  expect(withdrawals.newest[0]).toMatchObject({
    to: getAddress(payTo),
    payout: { state: 'paid', amount_micro: '100' },
  })
  expect(withdrawals.custody).toHaveLength(2)
}, 60_000)

/** Sums a Beancount file by account and commodity: opening balances and postings, as an accountant's program does. */
function sumBeancount(text: string): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const line of text.split('\n')) {
    const [, account, whole, fraction = '', unit] = /^ {2}([A-Z][\w:-]+) {2}(-?\d+)(?:\.(\d+))? (\S+)$/.exec(line) ?? []
    if (account === undefined || whole === undefined) continue
    const key = `${account} ${unit}`
    const sum = (sums.get(key) ?? 0n) + BigInt(`${whole}${fraction}`)
    sums.set(key, sum)
  }
  return sums
}

test('the export for accountants adds up to the books, in Beancount and in CSV', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const { rows } = await trialBalance(harness.till.db.owner)
  const all = await assay('books', 'export')
  expect(all.code).toBe(0)
  const sums = sumBeancount(all.out)
  for (const row of rows)
    expect(sums.get(`${accountName(row)} ${commodity(row.unit)}`) ?? 0n, row.name).toBe(row.balanceMicro)
  expect(all.out.match(/^\d{4}-\d{2}-\d{2} balance /gm)).toHaveLength(rows.length)
  // From a day on, what came before is the opening balance.
  const later = await assay('books', 'export', '--from', '2999-01-01', '--to', '2999-01-02')
  expect(later.out).not.toContain('posting:')
  const openings = sumBeancount(later.out)
  for (const row of rows)
    expect(openings.get(`${accountName(row)} ${commodity(row.unit)}`) ?? 0n, row.name).toBe(row.balanceMicro)

  const csv = (await assay('books', 'export', '--format', 'csv', '--from', today, '--to', today)).out.trim().split('\n')
  const byAccount = new Map<string, bigint>()
  for (const line of csv.slice(1)) {
    const [, , , , , account = '', , unit = '', debit = '', credit = ''] = line.split(',')
    const micro = (text: string) => BigInt(text === '' ? '0' : unit.endsWith('/usdc') ? text.replace('.', '') : text)
    byAccount.set(account, (byAccount.get(account) ?? 0n) + micro(debit) - micro(credit))
  }
  for (const row of rows) expect(byAccount.get(row.name), row.name).toBe(row.balanceMicro)
}, 60_000)

test('revenue, costs and net of each shop and day are those of the books', async () => {
  const { data } = JSON.parse((await assay('revenue', '--json')).out) as { data: Record<string, string>[] }
  const { rows } = await trialBalance(harness.till.db.owner)
  const sum = (kind: string) =>
    rows
      .filter((row) => row.kind === kind && row.unit === `${network}/usdc`)
      .reduce((total, { balanceMicro }) => total + balanceMicro, 0n)
  const net = data
    .filter((row) => row['network'] === network)
    .reduce((total, row) => total + BigInt(row['net_micro'] ?? '0'), 0n)
  expect(net).toBe(-sum('income') - sum('expense'))
  expect(data.find(({ shop }) => shop === 'sandbox')).toMatchObject({
    network,
    gross_micro: '5000',
    refunds_micro: '0',
  })
  expect(BigInt(data.find(({ shop }) => shop === 'sandbox')?.['gas_gwei'] ?? '0')).toBeGreaterThan(0n)
  expect(data.find(({ shop }) => shop === 'attestations')).toMatchObject({ gross_micro: '2000' })
  expect(new Set(data.map((row) => row['network']))).toEqual(new Set([network]))
  expect(data.map(({ shop }) => shop).filter((shop) => shop !== 'node' && !shopNames.includes(shop ?? ''))).toEqual([])
  const csv = (await assay('revenue', '--csv')).out.trim().split('\n')
  expect(csv).toHaveLength(data.length + 1)
  const account = privateKeyToAccount(privateKey)
  const url = `${harness.till.node.url}/v1/operator/revenue`
  const asked = await fetch(await signRequest(url, {}, { account }))
  expect(await asked.json()).toEqual({ data, next_cursor: null })
  expect((await fetch(await signRequest(`${url}?from=2026-12-01&to=2020-01-01`, {}, { account }))).status).toBe(400)
}, 60_000)
