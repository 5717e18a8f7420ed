import { randomBytes } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { transferCall } from '../chain/wallet/authorization-calls.ts'
import { world } from '../chain/wallet/use-wallets.fixture.ts'
import { testKey } from '../chain/wallet/wallet.fixture.ts'
import { nowSeconds, systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { accounts, owedTo, payToPartOf } from '../ledger/index.ts'
import { createCustodyKey } from '../payouts/custody-key.ts'
import { creditRefundPurposes, type PayoutDeps, parsePayoutPolicy, payoutsOf, runPayouts } from '../payouts/index.ts'
import { base, books, ids, owe, payouts, received, usePayouts } from '../payouts/payouts.fixture.ts'
import { reconcileBooks } from '../recovery/reconcile.ts'
import { schemes } from '../schemes/exact/schemes.fixture.ts'
import { refundCredit } from './credit-refund.ts'

usePayouts()

const usd = 1_000_000n
const payTo = () => testKey(`pay to ${books.number}`).address
const refundPurposes = creditRefundPurposes.map((purpose) => ({ purpose, minimumMicro: 1n }))
const deps = (): PayoutDeps => payouts({ purposes: [{ purpose: books.purpose }, ...refundPurposes] })

/** An authorization that nobody claimed, carried to one of our addresses: the credit of the party that signed it. */
async function payIn(name: string, to: Address, micro: bigint): Promise<Address> {
  await reconcile()
  await world.devnet.control.fund(testKey(name).address, { microUsdc: micro, wei: 0n })
  return send(name, to, micro)
}

async function send(name: string, to: Address, micro: bigint): Promise<Address> {
  const buyer = createCustodyKey(testKey(name).privateKey)
  const validBefore = BigInt(nowSeconds(systemClock) + 600)
  const nonce = toHex(randomBytes(32))
  const authorization = { from: buyer.address, to, value: micro, validAfter: 0n, validBefore, nonce }
  const sent = await books.wallets.send({
    purpose: 'settle',
    references: [],
    to: world.network.usdc.address,
    data: transferCall(authorization, await buyer.authorize(world.network, authorization)),
    gasLimit: 200_000n,
    stillWanted: () => true,
  })
  if (sent.status !== 'sent') throw new Error(sent.reason)
  expect(await sent.outcome).toMatchObject({ status: 'mined' })
  await reconcile()
  return buyer.address
}

/** The operator's own money, which the books know. */
const moveFromPayTo = (micro: bigint) => send(`pay to ${books.number}`, books.custody.address, micro)

/** With its cost taken as usual; the cost of each transfer is the operator's. */
const refund = (wallet: Address, amountMicro?: bigint) =>
  world.store.database.transaction((tx) =>
    refundCredit(tx, {
      nextId: () => ids.next('po'),
      wallet,
      network: base,
      amountMicro,
      costMicro: 0n,
      approvalMicro: 1_000n * usd,
      nowMs: systemClock.nowMs(),
    }),
  )

async function reconcile(): Promise<void> {
  const { database, owner } = world.store
  // Payments of credit are final here, where blocks are; the job that notes it is not running.
  await owner.query(`update payment set final = true`)
  const { chain } = books
  const targets = [
    { chain, payee: 'pay_to', address: payTo(), exclusive: true },
    { chain, payee: 'custody', address: books.custody.address, exclusive: true },
  ] as const
  await reconcileBooks({ database, clock: systemClock, ids, log: silentLog, metrics: silentMetrics, schemes }, targets)
  await owner.query(`update payment set final = true`)
}

/** Custody with this money and no more. */
async function smallCustody(micro: bigint): Promise<void> {
  books.custody = createCustodyKey(testKey(`small custody ${books.number}`).privateKey)
  if (micro > 0n) await world.devnet.control.fund(books.custody.address, { microUsdc: micro, wei: 0n })
}

/** What the earlier tests of this file left owed would count as held for others. */
async function withNothingOwed(): Promise<void> {
  const { rows } = await world.store.owner.query<{ owed: bigint }>(
    'select coalesce(sum(owed_micro), 0)::bigint as owed from ledger_balance',
  )
  expect(rows[0]?.owed).toBe(0n)
}

test('credit that arrived at PAY_TO is not refunded with what custody holds for others', async () => {
  await withNothingOwed()
  const [creator] = books.payees as [Address]
  await smallCustody(50n * usd)
  const buyer = await payIn(`buyer ${books.number}`, payTo(), 40n * usd)
  expect(await owedTo(world.store.database, accounts.credit(base, buyer))).toBe(40n * usd)
  await owe(creator, 50n * usd)
  expect(await refund(buyer)).toMatchObject([{ paidMicro: 40n * usd }])

  await runPayouts(deps())
  expect([await received(buyer), await received(creator)]).toEqual([0n, 50n * usd])
  expect(books.alarms).toContain('payouts_unfunded')
  expect(await payoutsOf(world.store.database, buyer, creditRefundPurposes, 5)).toMatchObject([
    { state: 'queued', waits_for: 'operator_funds' },
  ])

  await moveFromPayTo(40n * usd)
  await runPayouts(deps())
  expect(await received(buyer)).toBe(40n * usd)
})

test('the part at custody goes back at once, the part at PAY_TO waits, and neither holds up anybody else', async () => {
  await withNothingOwed()
  await smallCustody(0n)
  const name = `buyer ${books.number}`
  const buyer = await payIn(name, payTo(), 30n * usd)
  await payIn(name, books.custody.address, 20n * usd)
  const other = await payIn(`other ${books.number}`, books.custody.address, 10n * usd)
  const parts = await refund(buyer)
  expect(parts.map(({ paidMicro }) => paidMicro)).toEqual([20n * usd, 30n * usd])
  await runPayouts(deps())
  expect(await received(buyer)).toBe(20n * usd)

  // While one part waits, what comes to custody can still be refunded, and that of others too.
  await payIn(name, books.custody.address, 5n * usd)
  expect(await refund(buyer)).toMatchObject([{ paidMicro: 5n * usd }])
  await refund(other)
  await runPayouts(deps())
  expect([await received(buyer), await received(other)]).toEqual([25n * usd, 10n * usd])

  await moveFromPayTo(30n * usd)
  await runPayouts(deps())
  expect(await received(buyer)).toBe(55n * usd)
})

test('an amount is taken from the part at custody first, and what one wallet has at PAY_TO blocks no other wallet', async () => {
  await withNothingOwed()
  await smallCustody(0n)
  const name = `buyer ${books.number}`
  const buyer = await payIn(name, payTo(), 30n * usd)
  await payIn(name, books.custody.address, 20n * usd)
  const second = await payIn(`second ${books.number}`, payTo(), 7n * usd)
  expect(await refund(buyer, 15n * usd)).toMatchObject([{ paidMicro: 15n * usd }])
  await runPayouts(deps())
  expect(await received(buyer)).toBe(15n * usd)
  expect(await payToPartOf(world.store.database, accounts.credit(base, buyer))).toBe(30n * usd)

  // Seven from the operator are enough for the seven that are asked for, whatever else arrived at PAY_TO.
  await refund(second)
  await moveFromPayTo(7n * usd)
  await runPayouts(deps())
  expect(await received(second)).toBe(7n * usd)

  await refund(buyer)
  await moveFromPayTo(30n * usd)
  await runPayouts(deps())
  expect(await received(buyer)).toBe(50n * usd)
})

test('a wallet that pays in and asks back all day leaves the daily limit of refunds to the others', async () => {
  await withNothingOwed()
  await smallCustody(0n)
  const honest = await payIn(`honest ${books.number}`, books.custody.address, 10n * usd)
  await world.store.owner.query(`update payment set ended_at = ended_at - interval '40 days' where payer = $1`, [
    honest,
  ])
  const policy = parsePayoutPolicy({ daily_limit_usd: '15' })
  for (let turn = 0; turn < 3; turn += 1) {
    const wallet = await payIn(`attacker ${books.number} ${turn % 2}`, books.custody.address, 14n * usd)
    await refund(wallet)
    await runPayouts({ ...deps(), policy })
  }
  await refund(honest)
  await runPayouts({ ...deps(), policy })
  expect(await received(honest)).toBe(10n * usd)
  expect(await received(testKey(`attacker ${books.number} 0`).address)).toBe(28n * usd)

  // Money that has been here for long counts: the limit is still one.
  const late = await payIn(`late ${books.number}`, books.custody.address, 9n * usd)
  await world.store.owner.query(`update payment set ended_at = ended_at - interval '40 days' where payer = $1`, [late])
  await refund(late)
  await runPayouts({ ...deps(), policy })
  expect(await received(late)).toBe(0n)
  expect(await payoutsOf(world.store.database, late, creditRefundPurposes, 5)).toMatchObject([
    { state: 'queued', waits_for: 'daily_limit' },
  ])
})
