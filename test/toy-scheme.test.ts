import { randomBytes } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { OpenShop } from '../packages/node/src/shops/shop.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import type { Scheme } from '../packages/till/src/contract/scheme.ts'
import { authorizationSecondsMax } from '../packages/till/src/store/restore.ts'
import { createDyingDatabase } from './harness/dying-database.ts'
import { expectSoundBooks, spentOnChain } from './harness/invariants.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import {
  buy,
  decodeHeader,
  type FixtureOptions,
  openTill,
  type PaymentRequired,
  quote,
  send,
} from './harness/till-fixture.ts'
import { approveCollector, collector, createPullScheme, type Pull, signPull } from './toys/pull-scheme.ts'

const quoted = 5_000n
const used = 1_200n
const path = '/test/metered'
const network = 'eip155:8453'
let prepared = 0

/** Quotes a maximum and charges what was used. */
const openMeteredShop: OpenShop = () => ({
  routes: [
    {
      id: 'test.metered',
      area: 'core',
      method: 'GET',
      path,
      summary: 'A test route that is metered',
      query: z.strictObject({ whole: z.string().optional() }),
      output: z.strictObject({ ok: z.boolean() }),
      example: { output: { ok: true } },
      next: '/',
      access: {
        kind: 'paid',
        price: { kind: 'fixed', micro: quoted },
        networks: [network],
        payee: 'pay_to',
        revocable: false,
        prepare: async ({ query }: { query: { whole?: string } }) => {
          prepared += 1
          return {
            answer: { status: 200, contentType: 'application/json', body: '{"ok":true}' },
            ...(query.whole === undefined ? { chargeMicro: used } : {}),
          }
        },
      },
    },
  ],
})

const pull = createPullScheme(
  (method, params) => till.base.request(method, params),
  (data) => sendTransaction(till.base, collector, { to: till.base.usdc, data }),
)
const open: FixtureOptions = {
  ...{ ownShops: 'till', jobs: false, shops: [openMeteredShop], schemes: [pull] },
  // Three ways at most are offered.
  env: { CHANNELS: 'false' },
}

const till = await openTill(open)
await till.base.control.fund(collector.address.toLowerCase() as Address, { microUsdc: 0n })
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

async function newPayer(): Promise<PrivateKeyAccount> {
  const payer = await till.newBuyer()
  await till.base.control.fund(payer.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, payer, { to: till.base.usdc, data: approveCollector(1_000_000n) })
  return payer
}

const at = (query = '', node = till.node) => `${node.url}${path}${query}`

async function paymentsOf(payer: PrivateKeyAccount) {
  const { rows } = await till.db.owner.query(
    `select scheme, state, quoted_micro as quoted, amount_micro as charged from payment where payer = $1 order by claimed_at`,
    [payer.address.toLowerCase()],
  )
  return rows
}

async function transfersOf(payer: PrivateKeyAccount) {
  const { rows } = await till.db.owner.query(
    'select posted_as, tries > 0 as tried from transfer where sender = $1 and recipient = $2',
    [payer.address.toLowerCase(), till.node.config.payTo],
  )
  return rows
}

async function revenue(): Promise<bigint> {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(-sum(e.amount_micro), 0)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id
     where a.name = 'revenue:test.metered@eip155:8453'`,
  )
  return rows[0]?.micro ?? 0n
}

test('the 402 offers both schemes, exact first, and a signed offer for each', async () => {
  const response = await fetch(at())
  const header = response.headers.get('payment-required')
  const offer = decodeHeader<PaymentRequired>(header)
  expect(offer.accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'pull', 'credit'])
  expect(((await response.json()) as { offers: unknown[] }).offers).toHaveLength(2)
  expect(header?.length).toBeLessThan(3_072)
})

test('a purchase is served once; a copy of it gets nothing, here or for another request', async () => {
  const payer = await newPayer()
  const payload = await signPull(payer, await quote(at('?whole=1')))
  const before = prepared
  const answers = await Promise.all([1, 2, 3].map(() => send(at('?whole=1'), payload)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.any(Number), expect.any(Number)])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await send(at('?whole=1'), payload)).status).toBe(409)
  expect((await send(at('?whole=2'), payload)).status).toBe(409)
  expect(prepared).toBe(before + 1)
  expect(await paymentsOf(payer)).toEqual([{ scheme: 'pull', state: 'served', quoted, charged: quoted }])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(quoted)
})

test('a charge below the quote charges and posts only that amount; exact takes what was quoted', async () => {
  const payer = await newPayer()
  const before = await revenue()
  const response = await send(at(), await signPull(payer, await quote(at())))
  expect(response.status).toBe(200)
  expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ amount: used.toString() })
  expect(await paymentsOf(payer)).toEqual([{ scheme: 'pull', state: 'served', quoted, charged: used }])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  expect((await revenue()) - before).toBe(used)
  const other = await till.newBuyer()
  expect((await buy(other, at())).status).toBe(200)
  expect(await spentOnChain(till, 'base', other.address)).toBe(quoted)
  expect((await revenue()) - before).toBe(used + quoted)
})

test('a signature for other terms, another payer or another request buys nothing', async () => {
  const payer = await newPayer()
  const offer = await quote(at())
  const payload = await signPull(payer, offer)
  const changed = (change: object) => ({ ...payload, payload: { ...payload.payload, ...change } })
  expect((await send(at(), changed({ maximum: '4999' }))).status).toBe(402)
  expect((await send(at(), changed({ payer: collector.address }))).status).toBe(402)
  expect((await send(at('?whole=1'), payload)).status).toBe(409)
  expect((await send(at(), changed({ key: '0x00' }))).status).toBe(400)
  expect(await paymentsOf(payer)).toEqual([])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(0n)
})

test('no scheme takes a payment that can be carried for longer than nothing is credited after a restore', async () => {
  const payer = await newPayer()
  const answer = await send(at(), await signPull(payer, await quote(at()), undefined, authorizationSecondsMax + 60))
  expect([answer.status, await paymentsOf(payer)]).toEqual([402, []])
})

test('a process that dies between settling and serving is recovered, and the books equal the chain', async () => {
  const payer = await newPayer()
  const dyingDatabase = createDyingDatabase()
  const dying: Scheme<Pull> = {
    ...pull,
    settle: async (...given) => {
      const outcome = await pull.settle(...given)
      dyingDatabase.die()
      return outcome
    },
  }
  const first = await till.startAnother({
    ...open,
    schemes: [dying as Scheme],
    intercept: { database: dyingDatabase.intercept },
  })
  const identifier = `toy_${randomBytes(12).toString('hex')}`
  const payload = await signPull(payer, await quote(at('', first)), identifier)
  expect((await send(at('', first), payload)).status).toBe(503)
  expect(await paymentsOf(payer)).toMatchObject([{ state: 'settling', charged: used }])
  // Another process sees the transfer before anybody takes the payment over, and leaves it to the claim.
  await till.startAnother({ ...open, jobs: true })
  await vi.waitFor(async () => expect(await transfersOf(payer)).toEqual([{ posted_as: null, tried: true }]), 60_000)
  expect(await paymentsOf(payer)).toMatchObject([{ state: 'settling' }])
  await dyingDatabase.dropLocks()
  await vi.waitFor(async () => expect(await paymentsOf(payer)).toMatchObject([{ state: 'served' }]), 60_000)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  // At the same address, for the resource that was paid for has it.
  await first.stop()
  const again = await till.startAnother({ ...open, env: { PORT: new URL(first.url).port } })
  expect((await send(at('', again), payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  await vi.waitFor(async () => {
    const { rows } = await till.db.owner.query<{ open: bigint }>(
      `select count(*) as open from transfer where recipient = $1 and (posted_as <> 'payment' or not final)`,
      [till.node.config.payTo],
    )
    expect(rows[0]?.open).toBe(0n)
  }, 60_000)
})
