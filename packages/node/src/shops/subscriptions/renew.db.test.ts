import type { Address } from '@assay/protocol/address'
import { insertTestMandate, randomWallet } from '@assay/till/credit/credit.fixture'
import { expect, test } from 'vitest'
import { grantPeriod, revokePeriod } from './grant-period.ts'
import { insertOutage } from './outage-store.ts'
import { pauseSubscription, resumeOverdue, resumeSubscription } from './pause.ts'
import { periodMs } from './policy.ts'
import { renewDue, turnOff, turnOn } from './renew.ts'
import { findRenewal } from './renewal-store.ts'
import { dayMs, delegate, network, policy, price, startMs, tokens, useRenewals } from './renewals.fixture.ts'
import { upgrade, upgradePrice } from './upgrade.ts'

const world = useRenewals()
const { tx, of, renewalOf, subscriber } = world

test('on the last day one period is drawn from credit under the mandate, however many processes look', async () => {
  const { wallet, mandateId, on } = await subscriber({ credit: price * 3n })
  await on()
  await renewDue(world.deps)
  expect(await world.credit.balance(wallet)).toBe(price * 3n)
  world.nowMs = startMs + periodMs - dayMs
  const rounds = await Promise.all(Array.from({ length: 6 }, () => renewDue(world.deps)))
  expect(rounds.reduce((sum, one) => sum + one, 0)).toBe(1)
  expect(await of(wallet)).toMatchObject({ tier: 'standard', untilMs: startMs + 2 * periodMs })
  expect(await world.credit.balance(wallet)).toBe(price * 2n)
  const { rows } = await world.db.owner.query('select total_micro::text as drawn from mandate where id = $1', [
    mandateId,
  ])
  expect(rows).toEqual([{ drawn: price.toString() }])
  const posted = await world.db.owner.query(
    `select count(*)::int as n from ledger_transaction where reference in
       (select 'credit_take:' || payment_id from subscription_purchase where wallet = $1 and kind = 'renewal')`,
    [wallet],
  )
  expect(posted.rows).toEqual([{ n: 1 }])
})

test('without enough credit nothing changes, and the next hour tries again until three days after the end', async () => {
  const { wallet, on } = await subscriber({ credit: price - 1n })
  await on()
  world.nowMs = startMs + periodMs - dayMs
  expect(await renewDue(world.deps)).toBe(0)
  expect(await renewalOf(wallet)).toMatchObject({
    state: 'on',
    problem: 'not_enough',
    nextAtMs: world.nowMs + 3_600_000,
  })
  expect([await world.credit.balance(wallet), (await of(wallet))?.untilMs]).toEqual([price - 1n, startMs + periodMs])
  await world.credit.topUp(wallet, 1n)
  expect(await renewDue(world.deps)).toBe(0)
  world.nowMs = startMs + periodMs + dayMs
  const nothingForSale = { why: 'no_feed', detail: '', sinceMs: world.nowMs }
  expect(await renewDue({ ...world.deps, unavailable: () => nothingForSale })).toBe(0)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'on', problem: 'not_available' })
  world.nowMs = startMs + periodMs + 2 * dayMs
  expect(await renewDue(world.deps)).toBe(1)
  // What had ended begins again with the day of the renewal.
  expect(await of(wallet)).toMatchObject({ fromMs: world.nowMs, untilMs: world.nowMs + periodMs })
  world.nowMs += periodMs + 4 * dayMs
  await renewDue(world.deps)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'ended', problem: 'lapsed' })
})

test('cancelled at the same moment it is either renewed once or not at all, and never after the cancel', async () => {
  for (let round = 0; round < 8; round += 1) {
    const { wallet, on } = await subscriber({ credit: price * 2n })
    await on()
    world.nowMs = startMs + periodMs - dayMs
    await Promise.all([renewDue(world.deps), tx((t) => turnOff(world.deps, t, wallet, 'feeds')), renewDue(world.deps)])
    const drawn = price * 2n - (await world.credit.balance(wallet))
    const until = (await of(wallet))?.untilMs as number
    expect([drawn, until]).toEqual(drawn === 0n ? [0n, startMs + periodMs] : [price, startMs + 2 * periodMs])
    expect(await renewalOf(wallet)).toMatchObject({ state: 'off' })
    world.nowMs = until - dayMs
    expect(await renewDue(world.deps)).toBe(0)
  }
})

test('a mandate of another wallet, for another delegate, another route, or too small a sum turns nothing on', async () => {
  const { wallet } = await subscriber()
  const other = await subscriber()
  const give = (mandateId: string) =>
    tx((t) => turnOn(world.deps, t, { wallet, product: 'feeds', mandateId, priceMaxMicro: undefined })).then(
      () => 'on',
      (error: { code?: string }) => error.code,
    )
  const mandate = (changes: object) =>
    insertTestMandate(world.db, {
      owner: wallet,
      delegate,
      routes: ['subscriptions.*'],
      call: price,
      day: price,
      total: price,
      untilMs: startMs + dayMs,
      ...changes,
    })
  expect(await give(other.mandateId)).toBe('mandate_unknown')
  expect(await give(await mandate({ delegate: randomWallet() }))).toBe('delegate_mismatch')
  expect(await give(await mandate({ routes: ['matrix.*'] }))).toBe('mandate_route')
  expect(await give(await mandate({ call: price - 1n, day: price - 1n }))).toBe('mandate_over_cap')
  expect(await renewalOf(wallet)).toBeUndefined()
})

test('revoked, used up, dearer or of another tier: the renewal ends, and says why', async () => {
  const renewed = async (
    given: Parameters<typeof subscriber>[0],
    change: (one: Awaited<ReturnType<typeof subscriber>>) => Promise<unknown>,
    using = world.deps,
  ) => {
    const one = await subscriber({ credit: price * 10n, ...given })
    await one.on()
    await change(one)
    world.nowMs = startMs + periodMs - dayMs
    await renewDue(using)
    // A period bought besides moves the last day.
    world.nowMs = ((await of(one.wallet))?.untilMs as number) - dayMs
    await renewDue(using)
    return (await renewalOf(one.wallet))?.problem
  }
  const nothing = async () => {}
  expect(
    await renewed({}, ({ mandateId }) =>
      world.db.owner.query('update mandate set revoked_at = now() where id = $1', [mandateId]),
    ),
  ).toBe('mandate_revoked')
  expect(await renewed({ total: price }, nothing)).toBe('mandate_total')
  const dearer = { ...world.deps, policy: { ...policy, priceMicro: { ...policy.priceMicro, standard: price + 1n } } }
  expect(await renewed({}, nothing, dearer)).toBe('price_changed')
  expect(
    await renewed({}, ({ wallet }) =>
      upgrade(world.deps, { wallet, networks: [network], priceMaxMicro: policy.priceMicro.vip }),
    ),
  ).toBe('tier_changed')
})

test('an upgrade costs the difference of what is left, once, and keeps the end', async () => {
  const { wallet } = await subscriber({ credit: policy.priceMicro.vip })
  world.nowMs = startMs + periodMs / 2
  const before = await of(wallet)
  const due = upgradePrice(policy, before as never, world.nowMs)
  expect(due).toBe((policy.priceMicro.vip - price) / 2n)
  const ask = (priceMaxMicro: bigint) =>
    upgrade(world.deps, { wallet, networks: [network], priceMaxMicro }).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    )
  expect(await ask(due - 1n)).toBe('subscription_state')
  expect((await Promise.all([ask(due), ask(due), ask(due)])).sort()).toEqual([
    'done',
    'subscription_state',
    'subscription_state',
  ])
  expect(await of(wallet)).toMatchObject({ tier: 'vip', untilMs: startMs + periodMs })
  expect(await world.credit.balance(wallet)).toBe(policy.priceMicro.vip - due)
  const poor = await subscriber({ credit: 1n })
  await expect(
    upgrade(world.deps, { wallet: poor.wallet, networks: [network], priceMaxMicro: policy.priceMicro.vip }),
  ).rejects.toMatchObject({ code: 'credit_unavailable' })
  expect(await of(poor.wallet)).toMatchObject({ tier: 'standard' })
})

test('a pause stops the time, is not renewed, and cannot be used to stretch what was paid for day by day', async () => {
  const { wallet, on } = await subscriber()
  await on()
  const pause = () => tx((t) => pauseSubscription(t, wallet, 'feeds', world.nowMs))
  const resume = () => tx((t) => resumeSubscription(t, wallet, 'feeds', world.nowMs))
  world.nowMs = startMs + 10 * dayMs
  expect(await pause()).toMatchObject({ pausedAtMs: world.nowMs })
  // Resumed after a night nothing is given back, and the next pause has to wait.
  world.nowMs += dayMs / 2
  expect(await resume()).toMatchObject({ pausedAtMs: null, untilMs: startMs + periodMs })
  await expect(pause()).rejects.toMatchObject({ code: 'subscription_state' })
  const second = await subscriber()
  await second.on()
  world.nowMs = startMs + 29 * dayMs
  await tx((t) => pauseSubscription(t, second.wallet, 'feeds', world.nowMs))
  world.nowMs += 20 * dayMs
  expect(await renewDue(world.deps)).toBe(0)
  expect(await world.credit.balance(second.wallet)).toBe(price)
  expect(await tx((t) => resumeSubscription(t, second.wallet, 'feeds', world.nowMs))).toMatchObject({
    untilMs: startMs + periodMs + 20 * dayMs,
    extendedMs: 0,
  })
  // Renewed a day before its new end.
  world.nowMs += dayMs / 2
  await renewDue(world.deps)
  expect((await of(second.wallet))?.untilMs).toBe(startMs + 2 * periodMs + 20 * dayMs)
})

test('a pause ends by itself after ninety days; buying ends it at once, and nothing that was left is lost', async () => {
  const { wallet } = await subscriber()
  world.nowMs = startMs + 20 * dayMs
  await tx((t) => pauseSubscription(t, wallet, 'feeds', world.nowMs))
  world.nowMs += 200 * dayMs
  await resumeOverdue(world.db.database, world.nowMs)
  expect(await of(wallet)).toMatchObject({ pausedAtMs: null, untilMs: startMs + periodMs + 90 * dayMs })
  const other = await subscriber()
  world.nowMs = startMs + 20 * dayMs
  await tx((t) => pauseSubscription(t, other.wallet, 'feeds', world.nowMs))
  world.nowMs += 30 * dayMs
  const bought = {
    paymentId: `pay_again_${other.wallet}`,
    round: 0,
    wallet: other.wallet,
    tier: 'standard' as const,
    network,
    boughtAtMs: world.nowMs,
    standardMicro: price,
    vipMicro: policy.priceMicro.vip,
  }
  expect(await tx((t) => grantPeriod(t, tokens, bought, world.nowMs))).toMatchObject({
    untilMs: world.nowMs + 10 * dayMs + periodMs,
  })
  expect((await of(other.wallet))?.pausedAtMs).toBeNull()
})

const back = (paymentId: string) => tx((t) => revokePeriod(t, tokens, paymentId, world.nowMs))
const upgradeNow = (wallet: Address, priceMaxMicro = 10n * policy.priceMicro.vip) =>
  upgrade(world.deps, { wallet, networks: [network], priceMaxMicro })

test('what was refunded in full is not renewed, also where its end was moved into the days of the renewal', async () => {
  const { wallet, on } = await subscriber({ credit: price * 3n })
  await on()
  world.nowMs = startMs + 28 * dayMs
  await back(`pay_${wallet}`)
  world.nowMs = startMs + 29 * dayMs
  await renewDue(world.deps)
  expect(await world.credit.balance(wallet)).toBe(price * 3n)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'ended', problem: 'no_subscription' })
})

test('an upgrade is not lost with the period it rests on, and is worth no more than it cost', async () => {
  const { wallet } = await subscriber({ credit: policy.priceMicro.vip })
  await upgradeNow(wallet)
  expect(await of(wallet)).toMatchObject({ tier: 'vip', untilMs: startMs + periodMs })
  await back(`pay_${wallet}`)
  // 750 of the 1000 of a vip period are paid.
  expect(await of(wallet)).toMatchObject({ tier: 'vip', untilMs: startMs + (periodMs * 3) / 4 })
  world.nowMs += 600_000
  const again = {
    paymentId: `pay_${wallet}`,
    round: 1,
    wallet,
    tier: 'standard' as const,
    network,
    boughtAtMs: world.nowMs,
    standardMicro: price,
    vipMicro: policy.priceMicro.vip,
  }
  expect(await tx((t) => grantPeriod(t, tokens, again, world.nowMs))).toMatchObject({
    tier: 'vip',
    untilMs: startMs + periodMs,
  })
})

test('time that an outage gives back is paid for by an upgrade like any other, also while the outage goes on', async () => {
  const { wallet } = await subscriber({ credit: policy.priceMicro.vip })
  world.nowMs = startMs + 20 * dayMs
  const outage = { beganMs: startMs + 10 * dayMs, endedMs: world.nowMs, down: 1, of: 2 }
  await tx((t) => insertOutage(t, 'feeds', outage, true))
  try {
    const { priceMicro, subscription } = await upgradeNow(wallet)
    expect(subscription.untilMs).toBe(startMs + 35 * dayMs)
    expect(priceMicro).toBe((policy.priceMicro.vip - price) / 2n)
  } finally {
    await world.db.owner.query('delete from subscription_outage')
  }
})

test('a renewal waits for the last day as an outage that goes on has moved it', async () => {
  const { wallet, on } = await subscriber()
  await on()
  world.nowMs = startMs + 29 * dayMs
  const outage = { beganMs: startMs + 19 * dayMs, endedMs: world.nowMs, down: 1, of: 2 }
  await tx((t) => insertOutage(t, 'feeds', outage, true))
  try {
    await renewDue(world.deps)
    expect(await world.credit.balance(wallet)).toBe(price)
    expect(await renewalOf(wallet)).toMatchObject({ state: 'on', nextAtMs: startMs + 34 * dayMs })
  } finally {
    await world.db.owner.query('delete from subscription_outage')
  }
})

test('credit that a reorg could still take upgrades and renews nothing; once it is final it does', async () => {
  const { wallet, on } = await subscriber({ credit: policy.priceMicro.vip })
  await on()
  await world.db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, adds_credit)
     values ('exact', $3, $4::text, 'served', $1::text, $1::text || '/erc20:0xa', $2, sha256($4::bytea), $2, 'custody', $3, 0, 'credit.topup', '', sha256($4::bytea), true, 0,
       now(), now(), 1, true)`,
    [network, wallet, policy.priceMicro.vip, `pay_top_${wallet}`],
  )
  await expect(upgradeNow(wallet)).rejects.toMatchObject({ code: 'credit_unavailable' })
  world.nowMs = startMs + periodMs - dayMs
  await renewDue(world.deps)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'on', problem: 'not_final' })
  expect(await world.credit.balance(wallet)).toBe(policy.priceMicro.vip)
  await world.db.owner.query('update payment set final = true where id = $1', [`pay_top_${wallet}`])
  world.nowMs += 3_600_000
  await renewDue(world.deps)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'on', problem: null })
  expect(await world.credit.balance(wallet)).toBe(policy.priceMicro.vip - price)
})

test('a wallet that nothing is sold to pays for nothing: no renewal is drawn, and no upgrade', async () => {
  const { wallet, on } = await subscriber({ credit: policy.priceMicro.vip })
  await on()
  const listed = {
    ...world.deps,
    screening: {
      find: async (account: Address) => (account === wallet ? { source: 'list', reason: 'sanctioned' } : undefined),
    },
  }
  const asked = { wallet, networks: [network], priceMaxMicro: policy.priceMicro.vip }
  await expect(upgrade(listed, asked)).rejects.toMatchObject({ code: 'payer_refused' })
  world.nowMs = startMs + periodMs - dayMs
  await renewDue(listed)
  expect(await world.credit.balance(wallet)).toBe(policy.priceMicro.vip)
  expect(await renewalOf(wallet)).toMatchObject({ state: 'on', problem: 'payer_refused' })
})

test('where vip costs no more than standard an upgrade is free', async () => {
  const { wallet } = await subscriber({ credit: 1n })
  const same = { ...world.deps, policy: { ...policy, priceMicro: { ...policy.priceMicro, vip: price } } }
  const asked = { wallet, networks: [network], priceMaxMicro: 1n }
  expect(await upgrade(same, asked)).toMatchObject({ priceMicro: 0n, subscription: { tier: 'vip' } })
  expect(await world.credit.balance(wallet)).toBe(1n)
})

test('one pause that cannot be ended keeps neither other pauses nor renewals waiting', async () => {
  const [stuck, other] = [await subscriber(), await subscriber()]
  for (const { wallet } of [stuck, other]) await tx((t) => pauseSubscription(t, wallet, 'feeds', world.nowMs++))
  world.nowMs = startMs + 100 * dayMs
  await world.db.owner.query(
    `create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'stuck'; end $$;
     create trigger refuse_one before update on subscription_pause for each row when (old.wallet = '${stuck.wallet}')
       execute function refuse_one()`,
  )
  try {
    await resumeOverdue(world.db.database, world.nowMs).catch(() => {})
    expect((await of(other.wallet))?.pausedAtMs).toBeNull()
  } finally {
    await world.db.owner.query('drop trigger refuse_one on subscription_pause; drop function refuse_one')
  }
})

test('a stream that is not for sale is not renewed either, and is once it is back', async () => {
  world.nowMs = startMs
  const wallet = randomWallet()
  const micro = policy.priceMicro.stream
  const bought = {
    ...{ paymentId: `pay_${wallet}`, round: 0, wallet, product: 'stream' as const, tier: 'stream' as const, network },
    ...{ boughtAtMs: startMs, standardMicro: micro, vipMicro: micro },
  }
  await tx((t) => grantPeriod(t, tokens, bought, startMs))
  await world.credit.topUp(wallet, micro)
  const terms = { owner: wallet, delegate, routes: ['market.intents.stream'], call: micro, day: micro, total: micro }
  const mandateId = await insertTestMandate(world.db, { ...terms, untilMs: startMs + 90 * dayMs })
  await tx((t) => turnOn(world.deps, t, { wallet, product: 'stream', mandateId, priceMaxMicro: undefined }))
  world.nowMs = startMs + periodMs - dayMs
  const down = { why: 'not_sold', detail: '', sinceMs: world.nowMs }
  await renewDue({ ...world.deps, streamUnavailable: () => down })
  expect(await world.credit.balance(wallet)).toBe(micro)
  expect(await findRenewal(world.db.database, wallet, 'stream')).toMatchObject({
    state: 'on',
    problem: 'not_available',
  })
  world.nowMs += 3_600_000
  await renewDue(world.deps)
  expect(await world.credit.balance(wallet)).toBe(0n)
})
