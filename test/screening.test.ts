import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAssayClient, readDemoNetworks } from '../packages/sdk/src/index.ts'
import { requestRefund } from '../packages/till/src/internal.ts'
import { createJobsByHand } from './harness/jobs-by-hand.ts'
import { buy, echoPath, quote, signPayment } from './harness/till-fixture.ts'
import { tokenBalance } from './harness/token-balance.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'
import { submitAuthorization } from './harness/wallets.ts'

const nobody = `0x${'99'.repeat(20)}`
const folder = mkdtempSync(join(tmpdir(), 'assay-screening-'))
const file = join(folder, 'list.txt')
writeFileSync(file, `${nobody}\n`)
afterAll(() => rmSync(folder, { recursive: true }))
const jobs = createJobsByHand()
const till = useTill({ ownShops: 'till', env: { SCREENING_LIST: file }, intercept: { job: jobs.intercept } })
const work = () =>
  jobs.run(['payments.recover', 'payments.finality', 'payments.refunds', 'payouts.run', 'payments.reconcile'])

const echo = (message: string) => `${till.node.url}${echoPath}?message=${message}`
const list = (...accounts: PrivateKeyAccount[]) =>
  writeFileSync(file, [nobody, ...accounts.map(({ address }) => address)].join('\n'))
beforeEach(() => {
  list()
  till.base.control.setFinalityLag(0)
})

const refusedAs = (buyer: PrivateKeyAccount, status: number, code: string) =>
  until(`${code} for ${buyer.address}`, async () => {
    const response = await buy(buyer, echo('listed'))
    const body = (await response.json()) as { code?: string }
    return response.status === status && body.code === code
  })
const paymentsOf = async ({ address }: PrivateKeyAccount) =>
  (
    await till.db.owner.query<{ id: string; state: string }>(
      `select id, state from payment where payer = $1 order by claimed_at`,
      [address.toLowerCase()],
    )
  ).rows
const holdsOf = async ({ address }: PrivateKeyAccount) =>
  (
    await till.db.owner.query(`select held_by, reason from payout_hold where payee = $1 and network = 'eip155:8453'`, [
      address.toLowerCase(),
    ])
  ).rows

test('a listed payer is refused before any claim, and served once it is off the list', async () => {
  const buyer = await till.newBuyer()
  list(buyer)
  await refusedAs(buyer, 403, 'payer_refused')
  const before = await paymentsOf(buyer)
  await refusedAs(buyer, 403, 'payer_refused')
  expect(await paymentsOf(buyer)).toEqual(before)
  list()
  await until('served again', async () => (await buy(buyer, echo('again'))).status === 200)
})

test('a list that breaks stops every sale until it is repaired, and a node does not start with one', async () => {
  const buyer = await till.newBuyer()
  writeFileSync(file, `${nobody}\n0x12\n`)
  await refusedAs(buyer, 503, 'settlement_unavailable')
  await expect(till.startAnother({ env: { SCREENING_LIST: file } })).rejects.toThrow(
    'SCREENING_LIST: line 2 is no address',
  )
  list()
  await until('served', async () => (await buy(buyer, echo('repaired'))).status === 200)
})

test('credit of a listed account is frozen', async () => {
  const owner = await till.newBuyer()
  expect((await buy(owner, `${till.node.url}/v1/credit/topup?usd=1`)).status).toBe(200)
  const networks = await readDemoNetworks(till.node.url)
  const options = { account: owner, baseUrl: till.node.url, networks, maxPerCallUsd: '1', credit: 'prefer' as const }
  const draw = () => createAssayClient(options).fetch(`${echoPath}?message=draw`)
  expect((await draw()).response.status).toBe(200)
  list(owner)
  await until('frozen', () =>
    draw().then(
      ({ response }) => response.status === 403,
      (error: { details?: { problem?: { code?: string } } }) => error.details?.problem?.code === 'payer_refused',
    ),
  )
})

test('a refund to a listed account is not sent: the account is frozen', async () => {
  const buyer = await till.newBuyer()
  expect((await buy(buyer, echo('refund'))).status).toBe(200)
  list(buyer)
  await refusedAs(buyer, 403, 'payer_refused')
  const held = await tokenBalance(till.base, buyer.address)
  const [payment] = await paymentsOf(buyer)
  await work()
  expect(
    await requestRefund(till.db.database, { paymentId: payment?.id ?? '', reason: 'test', by: 'test' }),
  ).toMatchObject({ status: 'asked' })
  await until('held', async () => {
    await work()
    return (await holdsOf(buyer)).length > 0
  })
  await work()
  await work()
  expect(await holdsOf(buyer)).toEqual([{ held_by: 'screening', reason: 'sanctions_list' }])
  expect(await tokenBalance(till.base, buyer.address)).toBe(held)
  const { rows } = await till.db.owner.query(`select state from payout where payee = $1`, [buyer.address.toLowerCase()])
  expect(rows.map(({ state }) => state)).not.toContain('paid')
})

test('money of a listed account that nobody claimed is not credited: it waits for a person', async () => {
  const [listed, other] = [await till.newBuyer(), await till.newBuyer()]
  list(listed)
  await refusedAs(listed, 403, 'payer_refused')
  for (const account of [listed, other])
    await submitAuthorization(till.base, await signPayment(account, await quote(echo('carried'))))
  await until('explained', async () => {
    await till.base.control.mine(1)
    await work()
    const { rows } = await till.db.owner.query<{ open: number }>(
      `select count(*)::int as open from transfer where sender = any($1) and posted_as is null`,
      [[listed, other].map(({ address }) => address.toLowerCase())],
    )
    return rows[0]?.open === 0 && (await paymentsOf(other)).length > 0
  })
  expect(await paymentsOf(other)).toMatchObject([{ state: 'credited' }])
  expect((await paymentsOf(listed)).filter(({ state }) => state === 'credited')).toEqual([])
  const { rows } = await till.db.owner.query(`select from transfer where posted_as = 'review' and sender = $1`, [
    listed.address.toLowerCase(),
  ])
  expect(rows).toHaveLength(1)
})

describe('a facilitator that does not serve a payer', () => {
  let settles = 0
  const screened = useTill({
    ownShops: 'till',
    intercept: {
      facilitator: (real) => ({
        ...real,
        settle: async () => {
          settles += 1
          return { status: 'refused', reason: 'sanctions_screening', payloadSent: true }
        },
      }),
    },
  })
  let buyer: PrivateKeyAccount
  beforeAll(async () => {
    buyer = await screened.newBuyer()
  })
  afterAll(() => expect(settles).toBe(1))

  test('is asked once: the next payments are refused before any claim, also by another process', async () => {
    const url = (base: string, message: string) => `${base}${echoPath}?message=${message}`
    expect((await buy(buyer, url(screened.node.url, 'one'))).status).toBe(403)
    expect((await buy(buyer, url(screened.node.url, 'two'))).status).toBe(403)
    const another = await screened.startAnother({ jobs: false })
    expect((await buy(buyer, url(another.url, 'three'))).status).toBe(403)
    const { rows } = await screened.db.owner.query(`select state from payment where payer = $1`, [
      buyer.address.toLowerCase(),
    ])
    expect(rows).toHaveLength(1)
  })
})
