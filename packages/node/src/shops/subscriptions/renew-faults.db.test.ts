import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { insertTestMandate, randomWallet } from '@assay/till/credit/credit.fixture'
import { executeRefunds, type PaidRoute, readRefund, requestRefund } from '@assay/till/internal'
import { accounts, balanceOf } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { readPauses, setPause } from '@assay/till/store/pauses'
import { recordRestore, recordRestoreAgain } from '@assay/till/store/restore'
import { afterEach, describe, expect, test } from 'vitest'
import { saleHooks } from '../ports.ts'
import { createShopPorts } from '../shop-ports.ts'
import { revokePeriod } from './grant-period.ts'
import { periodMs, soldBy } from './policy.ts'
import { type RenewDeps, renewDue } from './renew.ts'
import { dayMs, delegate, network, policy, price, quiet, startMs, tokens, useRenewals } from './renewals.fixture.ts'
import { upgrade } from './upgrade.ts'

const world = useRenewals()
const { of, renewalOf, subscriber } = world
afterEach(() => world.db.owner.query('delete from subscription_renewal'))

describe('after a restore', () => {
  const restored = () =>
    recordRestore(world.db.database, { clock: world.clock, ...quiet }, { network, untilBlock: 1n, reason: 'test' })
  const reconciled = () => world.db.owner.query('update restore_gap set reconciled_at = now()')
  const resumeOne = (name: string) =>
    setPause(world.db.database, { name, paused: false, reason: 'nothing was lost', by: 'test' })
  const resume = async () => {
    await resumeOne('renewals')
    await resumeOne('mandates')
  }
  afterEach(async () => {
    await world.db.owner.query('delete from restore_gap')
    await resume()
  })
  /** Due, and renewed by nobody. */
  const waits = async (wallet: Address, problem: string) => {
    await renewDue(world.deps)
    expect(await world.credit.balance(wallet)).toBe(price)
    expect(await renewalOf(wallet)).toMatchObject({ state: 'on', problem, nextAtMs: world.nowMs + 3_600_000 })
    world.nowMs += 3_600_000
  }

  test('a cancel may be lost, so nothing is renewed before the wallet asks for it again or the operator vouches', async () => {
    const [asks, vouched] = [await subscriber(), await subscriber()]
    for (const { on } of [asks, vouched]) await on()
    world.nowMs = startMs + periodMs - dayMs
    await restored()
    await waits(asks.wallet, 'restored')
    // The chain says nothing of what was cancelled.
    await reconciled()
    await waits(asks.wallet, 'restored')
    expect((await readPauses(world.db.database)).get('renewals')).toMatchObject({ paused: true, changedBy: 'node' })
    await asks.on()
    await renewDue(world.deps)
    expect(await world.credit.balance(asks.wallet)).toBe(0n)
    expect(await world.credit.balance(vouched.wallet)).toBe(price)
    world.nowMs += 3_600_000
    // The mandate may have been revoked, too.
    await resumeOne('renewals')
    await waits(vouched.wallet, 'mandate_unconfirmed')
    await resume()
    await renewDue(world.deps)
    expect(await world.credit.balance(vouched.wallet)).toBe(0n)
  })

  test('the next one pauses again, also while its gap is the same', async () => {
    const { wallet, on } = await subscriber()
    await on()
    world.nowMs = startMs + periodMs - dayMs
    await restored()
    await renewDue(world.deps)
    await resume()
    await restored()
    await recordRestoreAgain(world.db.database)
    world.nowMs += 3_600_000
    await waits(wallet, 'restored')
  })

  test('nothing is drawn until the books were compared with the chain: the credit may have been paid out', async () => {
    const { wallet, on } = await subscriber()
    await on()
    world.nowMs = startMs + periodMs - dayMs
    await restored()
    await resume()
    await waits(wallet, 'not_final')
    await reconciled()
    await renewDue(world.deps)
    expect(await world.credit.balance(wallet)).toBe(0n)
  })
})

test('the operator pauses renewals: all wait', async () => {
  const { wallet, on } = await subscriber()
  await on()
  world.nowMs = startMs + periodMs - dayMs
  const pause = (paused: boolean) =>
    setPause(world.db.database, { name: 'renewals', paused, reason: 'test', by: 'test' })
  await pause(true)
  try {
    expect(await renewDue(world.deps)).toBe(0)
    expect(await world.credit.balance(wallet)).toBe(price)
  } finally {
    await pause(false)
  }
  expect(await renewDue(world.deps)).toBe(1)
})

test('renewals ended when PAY_TO changed: a mandate for an earlier address of this node stays good', async () => {
  const [earlier, stranger] = [await subscriber(), await subscriber()]
  for (const { on } of [earlier, stranger]) await on()
  await world.db.owner.query(
    `insert into own_address (network, address, payee, exclusive, retired_at) values ($1, $2, 'pay_to', true, now())`,
    [network, delegate],
  )
  const terms = { owner: stranger.wallet, delegate: randomWallet(), routes: ['subscriptions.*'] }
  const caps = { call: price, day: price, total: price, untilMs: startMs + 365 * dayMs }
  await world.db.owner.query('update subscription_renewal set mandate_id = $2 where wallet = $1', [
    stranger.wallet,
    await insertTestMandate(world.db, { ...terms, ...caps }),
  ])
  world.nowMs = startMs + periodMs - dayMs
  const payees = { pay_to: { [network]: randomWallet() }, custody: {} }
  try {
    expect(await renewDue({ ...world.deps, payees })).toBe(1)
  } finally {
    await world.db.owner.query('delete from own_address')
  }
  expect(await renewalOf(earlier.wallet)).toMatchObject({ state: 'on', problem: null })
  expect(await renewalOf(stranger.wallet)).toMatchObject({ state: 'ended', problem: 'delegate_mismatch' })
})

test('one renewal that throws keeps no other waiting, and waits an hour itself', async () => {
  const [stuck, other] = [await subscriber(), await subscriber()]
  for (const { on } of [stuck, other]) await on()
  world.nowMs = startMs + periodMs - dayMs
  await world.db.owner.query(
    `create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'stuck'; end $$;
     create trigger refuse_one before insert on subscription_purchase for each row when (new.wallet = '${stuck.wallet}')
       execute function refuse_one()`,
  )
  try {
    expect(await renewDue(world.deps)).toBe(1)
    expect((await of(other.wallet))?.untilMs).toBe(startMs + 2 * periodMs)
    expect(await renewalOf(stuck.wallet)).toMatchObject({
      state: 'on',
      problem: 'failed',
      nextAtMs: world.nowMs + 3_600_000,
    })
    expect(await world.credit.balance(stuck.wallet)).toBe(price)
  } finally {
    await world.db.owner.query('drop trigger refuse_one on subscription_purchase; drop function refuse_one')
  }
  world.nowMs += 3_600_000
  expect(await renewDue(world.deps)).toBe(1)
})

test('the hooks of a sale run for a renewal and for an upgrade, in their transaction', async () => {
  const { wallet, on } = await subscriber({ credit: price + policy.priceMicro.vip })
  await on()
  const seen: Sale[] = []
  const hooked = (fails: boolean): RenewDeps => {
    const ports = createShopPorts()
    ports.offer(saleHooks, [
      async (_tx, sales, unposted) => {
        expect(unposted).toHaveLength(1)
        if (fails) throw new Error('a hook failed')
        seen.push(...sales)
      },
    ])
    return { ...world.deps, ports }
  }
  world.nowMs = startMs + periodMs - dayMs
  expect(await renewDue(hooked(true))).toBe(0)
  expect(await world.credit.balance(wallet)).toBe(price + policy.priceMicro.vip)
  world.nowMs += 3_600_000
  expect(await renewDue(hooked(false))).toBe(1)
  await upgrade(hooked(false), { wallet, networks: [network], priceMaxMicro: policy.priceMicro.vip * 2n })
  const { rows } = await world.db.owner.query<{ id: string }>(
    `select payment_id as id from subscription_purchase where wallet = $1 and kind <> 'period' order by bought_at`,
    [wallet],
  )
  const common = { payer: wallet, network, payee: 'pay_to', source: 'credit', provisional: false, attribution: {} }
  expect(seen).toMatchObject([
    { ...common, paymentId: rows[0]?.id, routeId: soldBy('standard').id, amountMicro: price },
    { ...common, paymentId: rows[1]?.id, routeId: soldBy('vip').id },
  ])
})

/** A wallet whose period was renewed from credit just now, and the payment of that. */
async function renewed() {
  const { wallet, on } = await subscriber()
  await on()
  world.nowMs = startMs + periodMs - dayMs
  await renewDue(world.deps)
  const { rows } = await world.db.owner.query<{ id: string }>(
    `select payment_id as id from subscription_purchase where wallet = $1 and kind = 'renewal'`,
    [wallet],
  )
  return { wallet, paymentId: rows[0]?.id as string }
}

test('a renewal is refunded to the credit it came from, once, and its period is revoked', async () => {
  const { wallet, paymentId } = await renewed()
  const ask = (amountMicro?: bigint) =>
    requestRefund(world.db.database, {
      ...{ paymentId, reason: 'test', by: 'test' },
      ...(amountMicro === undefined ? {} : { amountMicro }),
    })
  expect(await ask(price + 1n)).toEqual({ status: 'refused', why: 'more_than_paid' })
  expect((await Promise.all([ask(), ask()])).map(({ status }) => status).sort()).toEqual(['asked', 'refused'])
  const reversed: unknown[] = []
  const revoke = (t: Tx, sale: Sale) => revokePeriod(t, tokens, sale.paymentId, world.nowMs)
  // A process that does not know the route leaves it to one that does: what was bought would stay.
  await executeRefunds({ ...world.deps, ...quiet, routeOf: () => undefined, routePatienceMs: dayMs, reversalHooks: [] })
  expect(await readRefund(world.db.database, paymentId)).toMatchObject({ state: 'asked' })
  expect(await world.credit.balance(wallet)).toBe(0n)
  const execute = () =>
    executeRefunds({
      ...world.deps,
      ...quiet,
      routeOf: () => ({ revoke }) as unknown as PaidRoute,
      reversalHooks: [async (_tx, sale, part) => void reversed.push([sale.paymentId, part.micro])],
    })
  await Promise.all([execute(), execute()])
  await execute()
  expect(await world.credit.balance(wallet)).toBe(price)
  expect((await of(wallet))?.untilMs).toBe(startMs + periodMs)
  expect(reversed).toEqual([[paymentId, price]])
  expect(await readRefund(world.db.database, paymentId)).toMatchObject({ state: 'credited', payout: null })
  expect(await ask()).toEqual({ status: 'refused', why: 'refunded_before' })
  // What was refunded is not drawn a second time.
  await world.db.owner.query('update subscription_renewal set next_at = $2 where wallet = $1', [
    wallet,
    new Date(world.nowMs),
  ])
  await renewDue(world.deps)
  expect(await world.credit.balance(wallet)).toBe(price)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'ended', problem: 'refunded' })
  expect(await balanceOf(world.db.database, accounts.revenue(network, soldBy('standard').id))).toBeLessThanOrEqual(0n)
})

test('where no process knows the route in time, the refund is made all the same and an alarm is raised', async () => {
  const { paymentId } = await renewed()
  await requestRefund(world.db.database, { paymentId, reason: 'test', by: 'test' })
  await world.db.owner.query(`update refund set requested_at = 'epoch' where payment_id = $1`, [paymentId])
  const alarms: unknown[] = []
  const metrics = { ...quiet.metrics, count: (_name: string, labels?: object) => void alarms.push(labels) }
  const deps = { ...world.deps, ...quiet, metrics, routePatienceMs: dayMs, reversalHooks: [] }
  await executeRefunds({ ...deps, routeOf: () => undefined })
  expect(await readRefund(world.db.database, paymentId)).toMatchObject({ state: 'credited' })
  expect(alarms).toEqual([{ alarm: 'effect_not_revoked' }])
})

test('a part of a renewal is refunded and the period stays; a pass, a call that was released and a stranger are not', async () => {
  const { wallet, on } = await subscriber()
  await on()
  world.nowMs = startMs + periodMs - dayMs
  await renewDue(world.deps)
  const { rows } = await world.db.owner.query<{ id: string }>(
    `select payment_id as id from subscription_purchase where wallet = $1 and kind = 'renewal'`,
    [wallet],
  )
  const refund = { reason: 'test', by: 'test' }
  expect(
    await requestRefund(world.db.database, { ...refund, paymentId: rows[0]?.id as string, amountMicro: 7n }),
  ).toEqual({
    status: 'asked',
    amountMicro: 7n,
  })
  await executeRefunds({ ...world.deps, ...quiet, routeOf: () => undefined, reversalHooks: [] })
  expect(await world.credit.balance(wallet)).toBe(7n)
  expect((await of(wallet))?.untilMs).toBe(startMs + 2 * periodMs)
  await world.db.owner.query(
    `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, state, held_at, expires_at)
     select 'call_' || i.port || i.state || i.sent, i.port, $1, $2, 5, 'r', '', i.sent, i.state, now(), now()
     from (values ('credit', 'released', false), ('pass', 'captured', false), ('credit', 'captured', true)) i (port, state, sent)`,
    [wallet, network],
  )
  for (const [id, why] of [
    ['call_creditreleasedfalse', 'not_paid'],
    ['call_passcapturedfalse', 'no_such_payment'],
    ['call_creditcapturedtrue', 'not_paid'],
    ['call_nobody', 'no_such_payment'],
  ])
    expect(await requestRefund(world.db.database, { ...refund, paymentId: id as string })).toEqual({
      status: 'refused',
      why,
    })
})
