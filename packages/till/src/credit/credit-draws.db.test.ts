import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { accounts, balanceDifferences, balanceOf, credit, debit, InsufficientBalance, post } from '../ledger/index.ts'
import { setPause } from '../store/pauses.ts'
import { recordRestore, recordRestoreAgain } from '../store/restore.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import {
  base,
  dollar,
  insertTestMandate,
  mandateCounters,
  openTestCredit,
  polygon,
  randomWallet,
} from './credit.fixture.ts'
import { heldDifferences } from './credit-balance.ts'
import { idempotencyKeyPattern, keepAnswers } from './entitled-calls.ts'
import { confirmMandate, listMandates } from './mandates/store.ts'

const db = await useTestDatabase()
const testCredit = openTestCredit(db)

const refusal = async (asked: Parameters<typeof testCredit.hold>[0]) => {
  const outcome = await testCredit.hold(asked)
  return outcome.status === 'refused' ? outcome.problem.code : outcome.status
}

test('a draw is held, then captured: the price moves from credit to what the route earned', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 10_000n)
  const before = await balanceOf(db.database, accounts.revenue(base, 'test.answer'))
  const asked = { by: wallet, micro: 300n }
  const held = await testCredit.held(asked)
  expect(held.draw).toEqual({ network: base, amountMicro: 300n, leftMicro: 9_700n })
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([9_700n, 300n])
  await testCredit.capture(held, asked)
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([9_700n, 0n])
  expect((await balanceOf(db.database, accounts.revenue(base, 'test.answer'))) - before).toBe(-300n)
  await expect(testCredit.capture(held, asked)).rejects.toThrow('no longer held')
})

test('credit in a dollar that is not USDC pays only for calls that are sold in it', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 10_000n, dollar)
  const asked = { by: wallet, micro: 300n }
  expect((await testCredit.hold(asked)).status).toBe('not_covered')
  const sold = { ...asked, route: { networks: [base, dollar] } }
  const held = await testCredit.held(sold)
  expect(held.draw).toEqual({ network: dollar, amountMicro: 300n, leftMicro: 9_700n })
  await testCredit.capture(held, sold)
  expect(await balanceOf(db.database, accounts.revenue(dollar, 'test.answer'))).toBe(-300n)
  // A contract wallet is itself on its own chain, whatever the asset.
  const asContract = { ...sold, kind: 'contract' as const }
  expect((await testCredit.held(asContract)).draw?.network).toBe(dollar)
  expect((await testCredit.hold({ ...asContract, chainId: 137 })).status).toBe('not_covered')
  // USDC of any chain pays for what is sold in either.
  await testCredit.topUp(wallet, 20_000n, polygon)
  expect((await testCredit.held({ ...sold, micro: 15_000n })).draw?.network).toBe(polygon)
  expect([await testCredit.balance(wallet, dollar), await testCredit.balance(wallet)]).toEqual([9_400n, 0n])
})

test('a voided draw gives the money and what the mandate counted back, once', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 10_000n)
  const mandate = await insertTestMandate(db, { owner, delegate })
  const held = await testCredit.held({ by: delegate, micro: 700n, mandate })
  expect(await mandateCounters(db, mandate)).toMatchObject({ day_micro: 700n, total_micro: 700n })
  await testCredit.port.release(held.holdId)
  await testCredit.port.release(held.holdId)
  expect(await mandateCounters(db, mandate)).toMatchObject({ day_micro: 0n, total_micro: 0n })
  expect([await testCredit.balance(owner), await testCredit.heldMicro(owner)]).toEqual([10_000n, 0n])
})

test('two hundred draws at once never take more than there is, and copies of a proof draw once', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 10_500n)
  const outcomes = await Promise.all(Array.from({ length: 200 }, () => testCredit.hold({ by: wallet, micro: 1_000n })))
  expect(outcomes.filter(({ status }) => status === 'held')).toHaveLength(10)
  expect(outcomes.filter(({ status }) => status === 'not_covered')).toHaveLength(190)
  const another = openTestCredit(db)
  const rich = randomWallet()
  await testCredit.topUp(rich, 1_000_000n)
  const copies = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 2 ? testCredit : another).hold({ by: rich, micro: 10n, nonce: 'the-same' }),
    ),
  )
  expect(copies.filter(({ status }) => status === 'held')).toHaveLength(1)
  expect(await testCredit.heldMicro(rich)).toBe(10n)
})

test('caps per call, per day and in total hold under concurrency, in two processes', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000_000n)
  const another = openTestCredit(db)
  const mandate = await insertTestMandate(db, { owner, delegate, call: 1_000n, day: 5_500n, total: 7_000n })
  expect(await refusal({ by: delegate, micro: 1_001n, mandate })).toBe('mandate_over_cap')
  const outcomes = await Promise.all(
    Array.from({ length: 80 }, (_, n) => (n % 2 ? testCredit : another).hold({ by: delegate, micro: 1_000n, mandate })),
  )
  expect(outcomes.filter(({ status }) => status === 'held')).toHaveLength(5)
  const refused = outcomes.find(({ status }) => status === 'refused')
  expect(refused).toMatchObject({ problem: { details: { extra: { cap: 'per_day', left_micro: '500' } } } })
  expect(await mandateCounters(db, mandate)).toMatchObject({ day_micro: 5_000n, total_micro: 5_000n })
})

test('a new UTC day starts a new daily count, the total goes on, and a clock that is behind resets nothing', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000_000n)
  const mandate = await insertTestMandate(db, {
    owner,
    delegate,
    day: 2_000n,
    total: 5_000n,
    untilMs: Date.UTC(2100, 0, 1),
  })
  const on = (day: number) =>
    openTestCredit(db, { clock: { ...systemClock, nowMs: () => Date.UTC(2090, 0, day, 12) } }).hold({
      by: delegate,
      micro: 1_000n,
      mandate,
    })
  const held = async (day: number) => (await on(day)).status
  expect([await held(1), await held(1), await held(1)]).toEqual(['held', 'held', 'refused'])
  expect([await held(2), await held(2), await held(1)]).toEqual(['held', 'held', 'refused'])
  expect([await held(3), await held(3)]).toEqual(['held', 'refused'])
  expect(await mandateCounters(db, mandate)).toEqual({ day: '2090-01-03', day_micro: 1_000n, total_micro: 5_000n })
})

test('a void on a later day gives back the total and leaves the new day alone', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000_000n)
  const mandate = await insertTestMandate(db, { owner, delegate, untilMs: Date.UTC(2100, 0, 1) })
  const at = (day: number) => openTestCredit(db, { clock: { ...systemClock, nowMs: () => Date.UTC(2091, 0, day) } })
  const first = await at(1).held({ by: delegate, micro: 600n, mandate })
  await at(2).held({ by: delegate, micro: 300n, mandate })
  await at(2).port.release(first.holdId)
  expect(await mandateCounters(db, mandate)).toEqual({ day: '2091-01-02', day_micro: 300n, total_micro: 300n })
})

test('unknown, expired and revoked mandates, other signers and other routes are refused, each by its name', async () => {
  const [owner, delegate, stranger] = [randomWallet(), randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000_000n)
  await testCredit.topUp(delegate, 1_000_000n)
  const mandate = await insertTestMandate(db, { owner, delegate, routes: ['other.*', '/v1/test/*'] })
  const ask = { by: delegate, micro: 10n, mandate }
  expect(await refusal({ ...ask, mandate: `mdt_${'0'.repeat(40)}` })).toBe('mandate_unknown')
  expect(await refusal({ ...ask, mandate: 'mdt_of_mine' })).toBe('bad_request')
  expect(await refusal({ ...ask, by: stranger })).toBe('delegate_mismatch')
  expect(await refusal({ ...ask, by: owner })).toBe('delegate_mismatch')
  // On another chain the contract at the delegate's address may be somebody else's.
  expect(await refusal({ ...ask, kind: 'contract', chainId: 137 })).toBe('delegate_mismatch')
  expect(await refusal({ ...ask, path: '/v1/else/answer' })).toBe('mandate_route')
  expect(await refusal(ask)).toBe('held')
  await db.database.query('update mandate set revoked_at = now() where id = $1', [mandate])
  expect(await refusal(ask)).toBe('mandate_revoked')
  const old = await insertTestMandate(db, { owner, delegate, untilMs: systemClock.nowMs() - 1 })
  expect(await refusal({ ...ask, mandate: old })).toBe('mandate_expired')
  // Nothing fell back to the delegate's own credit.
  expect(await testCredit.balance(delegate)).toBe(1_000_000n)
})

test('a mandate that was revoked after the backup is open again after the restore', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000_000n)
  const [old, confirmed] = [
    await insertTestMandate(db, { owner, delegate }),
    await insertTestMandate(db, { owner, delegate }),
  ]
  const draw = (mandate: string) => refusal({ by: delegate, micro: 10n, mandate })
  const confirm = () => db.database.transaction((tx) => confirmMandate(tx, confirmed))
  const pause = (paused: boolean) => setPause(db.database, { name: 'mandates', paused, reason: 'test', by: 'operator' })
  const states = async () => {
    const shown = await listMandates(
      db.database,
      { wallet: owner, ended: false, before: undefined },
      9,
      systemClock.nowMs(),
    )
    return [old, confirmed].map((id) => shown.find((mandate) => mandate.id === id)?.state)
  }
  const deps = { clock: systemClock, log: silentLog, metrics: silentMetrics }
  const restored = () => recordRestore(db.database, deps, { network: base, untilBlock: 1n, reason: 'test' })
  await confirm()
  expect(await draw(confirmed)).toBe('held')
  expect(await states()).toEqual(['open', 'open'])
  await restored()
  expect([await draw(old), await draw(confirmed)]).toEqual(['mandate_unconfirmed', 'mandate_unconfirmed'])
  expect(await states()).toEqual(['unconfirmed', 'unconfirmed'])
  await confirm()
  expect(await states()).toEqual(['unconfirmed', 'open'])
  // Presented by its delegate, who may have kept it: it may be one that was revoked in the lost time.
  const presented = await insertTestMandate(db, { owner, delegate })
  // The chain says nothing of what was revoked, and a gap that grows is no other restore.
  await restored()
  await db.owner.query('update restore_gap set reconciled_at = now()')
  const drawn = await Promise.all([old, presented, confirmed].map(draw))
  expect(drawn).toEqual(['mandate_unconfirmed', 'mandate_unconfirmed', 'held'])
  await recordRestoreAgain(db.database)
  expect(await draw(confirmed)).toBe('mandate_unconfirmed')
  await pause(false)
  expect(await draw(old)).toBe('held')
  expect(await states()).toEqual(['open', 'open'])
  // The operator's pause is for all of them, and a restore does not loosen it.
  await pause(true)
  await confirm()
  await restored()
  expect(await draw(confirmed)).toBe('not_available')
  await pause(false)
  await db.owner.query('delete from restore_gap')
})

test('what was signed cannot be changed afterwards', async () => {
  const mandate = await insertTestMandate(db, { owner: randomWallet(), delegate: randomWallet() })
  await expect(db.owner.query('update mandate set cap_total_micro = 1 where id = $1', [mandate])).rejects.toThrow(
    'never changed',
  )
})

test('credit of a contract wallet is drawn on its own chain only, under a mandate too', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 1_000n, base)
  await testCredit.topUp(owner, 50_000n, polygon)
  const own = await testCredit.held({ by: owner, micro: 400n, kind: 'contract', chainId: 137 })
  expect(own.draw?.network).toBe(polygon)
  const mandate = await insertTestMandate(db, { owner, delegate, ownerKind: 'contract', chainId: 137 })
  expect((await testCredit.held({ by: delegate, micro: 400n, mandate })).draw?.network).toBe(polygon)
  // A plain wallet pays where the route is sold first, and on another chain when that is empty.
  expect((await testCredit.held({ by: owner, micro: 400n })).draw?.network).toBe(base)
  expect((await testCredit.held({ by: owner, micro: 40_000n })).draw?.network).toBe(polygon)
})

test('a named call is drawn once, and its name under a mandate is not the owner’s', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 10_000n)
  const mandate = await insertTestMandate(db, { owner, delegate })
  expect(await refusal({ by: owner, micro: 10n, key: 'one' })).toBe('held')
  expect(await refusal({ by: owner, micro: 10n, key: 'one' })).toBe('call_in_flight')
  expect(await refusal({ by: owner, micro: 10n, key: 'one', path: '/v1/test/other' })).toBe('idempotency_conflict')
  expect(await refusal({ by: delegate, micro: 10n, key: 'one', mandate })).toBe('held')
  expect(await testCredit.heldMicro(owner)).toBe(20n)
})

test('the owner of a mandate got the answers of its delegate by spelling their stored names', async () => {
  const [owner, delegate, other] = [randomWallet(), randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 10_000n)
  const mandate = await insertTestMandate(db, { owner, delegate })
  const second = await insertTestMandate(db, { owner, delegate: other })
  const ask = { by: delegate, micro: 10n, key: 'one', mandate }
  const held = await testCredit.held(ask)
  await testCredit.capture(held, ask)
  const answer = { status: 200, contentType: 'text/plain', body: 'of the delegate' }
  await db.database.transaction(async (tx) => keepAnswers(tx, [{ id: held.holdId, account: owner, answer }]))
  const stored = await db.database.query<{ name: string }>(
    'select idempotency_key as name from entitled_call where id = $1',
    [held.holdId],
  )
  const digest = createHash('sha256').update(`${mandate} one`).digest('hex')
  const [{ name } = { name: '' }] = stored.rows
  // What a header can hold: no spaces, so the stored name itself is not among them.
  expect(idempotencyKeyPattern.test(name)).toBe(false)
  for (const key of [`mandate:${digest}`, `mandate${digest}`, digest, 'one'])
    expect((await testCredit.hold({ by: owner, micro: 10n, key })).status, key).toBe('held')
  expect((await testCredit.hold({ by: other, micro: 10n, key: 'one', mandate: second })).status).toBe('held')
  expect((await testCredit.hold(ask)).status).toBe('served')
})

test('a call of the owner that waits for its name kept its delegates from using that name', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 10_000n)
  const mandate = await insertTestMandate(db, { owner, delegate })
  const ask = { by: owner, micro: 10n }
  const held = await testCredit.held(ask)
  await testCredit.capture(held, ask)
  expect(await refusal({ ...ask, key: held.holdId })).toBe('call_in_flight')
  expect(await refusal({ by: delegate, micro: 10n, mandate, key: held.holdId })).toBe('held')
})

test('a named call that was drawn is found again after its price moved over a cap of the mandate', async () => {
  const [owner, delegate] = [randomWallet(), randomWallet()]
  await testCredit.topUp(owner, 10_000n)
  const mandate = await insertTestMandate(db, { owner, delegate, call: 500n })
  const ask = { by: delegate, micro: 400n, key: 'moved', mandate }
  const held = await testCredit.held(ask)
  await testCredit.capture(held, ask)
  const answer = { status: 200, contentType: 'text/plain', body: 'bought' }
  await db.database.transaction(async (tx) => keepAnswers(tx, [{ id: held.holdId, account: owner, answer }]))
  expect(await testCredit.hold({ ...ask, micro: 600n })).toMatchObject({ status: 'served', answer: { status: 200 } })
  expect(await refusal({ ...ask, micro: 600n, key: 'fresh' })).toBe('mandate_over_cap')
  expect(await testCredit.balance(owner)).toBe(9_600n)
})

test('holds of a process that died are voided when their time is over', async () => {
  const wallet = randomWallet()
  const past = { ...systemClock, nowMs: () => systemClock.nowMs() - 200_000 }
  await testCredit.topUp(wallet, 500n)
  await openTestCredit(db, { clock: past }).held({ by: wallet, micro: 200n })
  await testCredit.port.recover()
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([500n, 0n])
})

test('a hold that was voided is not captured, also when its money was used since', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 500n)
  const asked = { by: wallet, micro: 200n }
  const held = await testCredit.held(asked)
  await testCredit.port.release(held.holdId)
  const rest = { by: wallet, micro: 500n }
  await testCredit.capture(await testCredit.held(rest), rest)
  await expect(testCredit.capture(held, asked)).rejects.toThrow('no longer held')
  expect(await testCredit.balance(wallet)).toBe(0n)
})

test('a hold that cannot be voided does not keep the others of dead processes aside', async () => {
  const [stuck, other] = [randomWallet(), randomWallet()]
  const past = { ...systemClock, nowMs: () => systemClock.nowMs() - 200_000 }
  for (const wallet of [stuck, other]) {
    await testCredit.topUp(wallet, 500n)
    await openTestCredit(db, { clock: past }).held({ by: wallet, micro: 200n })
  }
  const keepAside = (micro: number) =>
    db.owner.query(`update ledger_balance b set held_micro = ${micro} from ledger_account a
      where a.id = b.account_id and a.name = '${accounts.credit(base, stuck).name}'`)
  await keepAside(0)
  await expect(testCredit.port.recover()).rejects.toThrow('ledger_balance_held')
  expect(await testCredit.heldMicro(other)).toBe(0n)
  await keepAside(200)
  await testCredit.port.recover()
  expect([await testCredit.balance(stuck), await testCredit.heldMicro(stuck)]).toEqual([500n, 0n])
})

test('what is held cannot be posted away, and is free again when the hold ends', async () => {
  const wallet = randomWallet()
  await testCredit.topUp(wallet, 1_000n)
  const { holdId } = await testCredit.held({ by: wallet, micro: 700n })
  const spend = (reference: string) =>
    post(db.database, [
      {
        reference: `${reference}:${wallet}`,
        kind: 'test',
        lines: [debit(accounts.credit(base, wallet), 301n), credit(accounts.revenue(base, 'test'), 301n)],
      },
    ])
  await expect(spend('early')).rejects.toThrow(InsufficientBalance)
  await testCredit.port.release(holdId)
  await spend('late')
  expect([await testCredit.balance(wallet), await testCredit.heldMicro(wallet)]).toEqual([699n, 0n])
})

test('the books agree with the kept balances after all of it, and what is held with the holds', async () => {
  expect(await balanceDifferences(db.database)).toEqual([])
  expect(await heldDifferences(db.database)).toEqual([])
})
