import type { Address } from '@assay/protocol/address'
import { beforeEach, expect, test } from 'vitest'
import { world } from '../chain/wallet/use-wallets.fixture.ts'
import { testKey } from '../chain/wallet/wallet.fixture.ts'
import { systemClock } from '../kernel/clock.ts'
import { type Account, accounts, balanceOf, credit, debit, post } from '../ledger/index.ts'
import { recordRestore } from '../store/restore.ts'
import {
  listWithdrawals,
  type PayoutDeps,
  parsePayoutPolicy,
  readCustodyStatus,
  recordDestinations,
  requestWithdrawal,
  runPayouts,
  runWithdrawals,
  stopPayouts,
  type WithdrawPolicy,
} from './index.ts'
import { base, books, ids, payouts, received, usePayouts } from './payouts.fixture.ts'

usePayouts()

const usd = 1_000_000n
const network = base
let to: Address
let policy: WithdrawPolicy

beforeEach(async () => {
  to = testKey(`operator ${books.number}`).address
  policy = { destinations: [{ network, address: to }], minimumMicro: usd }
  // The books of all tests are one; each begins with what its wallet holds and owes nobody.
  await world.store.owner.query(`update withdrawal set state = 'refused'`)
  await world.store.owner.query('delete from custody_status')
  await settleEarlier()
})

/** Posts the difference between this test's wallet and all wallets before it, as the operator's own stake. */
async function settleEarlier(): Promise<void> {
  const posted = await balanceOf(world.store.database, accounts.onchain(network, 'custody'))
  const held = await books.chain.usdcBalance(books.custody.address)
  const { rows } = await world.store.owner.query<{ name: string; kind: never; unit: string; owed: bigint }>(
    `select a.name, a.kind, a.unit, b.owed_micro as owed from ledger_account a join ledger_balance b on b.account_id = a.id
     where b.owed_micro > 0 and a.unit = $1`,
    [`${network}/usdc`],
  )
  const lines = rows.map(({ owed, ...account }) => ({ account: { ...account, guarded: true }, amount: owed }))
  const owed = lines.reduce((sum, { amount }) => sum + amount, 0n)
  const grown = held - posted
  const own = -owed - grown
  if (lines.length === 0 && grown === 0n) return
  await post(world.store.database, [
    {
      reference: `reset ${ids.next('t')}`,
      kind: 'opening',
      lines: [
        ...lines,
        ...(grown === 0n ? [] : [{ account: accounts.onchain(network, 'custody'), amount: grown }]),
        ...(own === 0n ? [] : [{ account: accounts.operator(network, 'usdc'), amount: own }]),
      ],
    },
  ])
}

/** Posts that this part of what the wallet holds is owed to somebody. */
const claim = (account: Account, micro: bigint) =>
  post(world.store.database, [
    {
      reference: `claim ${ids.next('t')}`,
      kind: 'opening',
      lines: [debit(accounts.operator(network, 'usdc'), micro), credit(account, micro)],
    },
  ])

const deps = (changes: Partial<PayoutDeps> = {}) =>
  payouts({ withdrawals: policy, purposes: [{ purpose: 'withdrawal', minimumMicro: 1n }], ...changes })
const ask = (amountMicro?: bigint, payee = to) =>
  requestWithdrawal({ database: world.store.database, clock: systemClock, ids }, policy, {
    network,
    payee,
    by: 'test',
    ...(amountMicro === undefined ? {} : { amountMicro }),
  })
async function round(changes: Partial<PayoutDeps> = {}): Promise<void> {
  await runWithdrawals(deps(changes))
  await runPayouts(deps(changes))
}
const newest = async () => (await listWithdrawals(world.store.database, { limit: 1 }))[0]

test('all that nobody has a claim to is withdrawn, and the books stay equal to the chain', async () => {
  const [payee] = books.payees as [Address]
  await claim(accounts.payable(network, payee, 'creator'), 300n * usd)
  await claim(accounts.credit(network, payee), 50n * usd)
  expect(await ask()).toMatchObject({ status: 'asked' })
  await round()
  expect(await received(to)).toBe(650n * usd)
  expect(await newest()).toMatchObject({ state: 'paying', payout: { state: 'paid', amountMicro: 650n * usd } })
  expect(await balanceOf(world.store.database, accounts.onchain(network, 'custody'))).toBe(350n * usd)
  expect(await books.chain.usdcBalance(books.custody.address)).toBe(350n * usd)
  await ask()
  await round()
  expect(await newest()).toMatchObject({ state: 'refused', outcome: 'only 0 USD can be withdrawn' })
  expect(await received(to)).toBe(650n * usd)
  expect(books.alarms).toEqual([])
})

test('money in review or in a restore gap at custody counted as the operator’s', async () => {
  await claim(accounts.unmatched(network, 'custody'), 400n * usd)
  await claim(accounts.restoreGap(network, 'custody'), 350n * usd)
  await ask(251n * usd)
  await round()
  expect(await newest()).toMatchObject({ state: 'refused', outcome: 'only 250 USD can be withdrawn' })
  await ask(250n * usd)
  await round()
  expect(await received(to)).toBe(250n * usd)
})

test('money that arrived and is not posted yet is not withdrawn, and what shops promise is left for them', async () => {
  await world.devnet.control.fund(books.custody.address, { microUsdc: 5_000n * usd, wei: 0n })
  const committedMicro = async () => 200n * usd
  await ask()
  await round({ committedMicro })
  expect(await received(to)).toBe(800n * usd)
  expect(await readCustodyStatus(world.store.database)).toMatchObject([
    { network, reservedMicro: 200n * usd, withdrawableMicro: 800n * usd },
  ])
})

test('a claim that comes after the decision and before the signature keeps the money here', async () => {
  const [payee] = books.payees as [Address]
  await ask(900n * usd)
  await runWithdrawals(deps())
  await claim(accounts.payable(network, payee, 'creator'), 300n * usd)
  await runPayouts(deps())
  expect(await received(to)).toBe(0n)
  expect(await newest()).toMatchObject({ payout: { state: 'queued', reason: 'unfunded' } })
})

test('other destinations are refused, and a change of them is in the audit log', async () => {
  expect(await ask(1n, testKey('a thief').address)).toEqual({ status: 'refused', why: 'destination_not_allowed' })
  await ask(1n)
  await round({ withdrawals: { destinations: [], minimumMicro: 0n } })
  expect([await newest(), await received(to)]).toMatchObject([{ outcome: 'destination_not_allowed' }, 0n])
  await recordDestinations(world.store.database, policy)
  await recordDestinations(world.store.database, policy)
  const { rows } = await world.store.owner.query(
    `select details->'to' as "to" from audit_log where action = 'withdraw.destinations' order by id desc limit 2`,
  )
  expect(rows[0]).toEqual({ to: [`${network}=${to}`] })
  expect(rows[1]).not.toEqual(rows[0])
})

test('nothing is withdrawn while payouts are paused or stopped, or the books are restored', async () => {
  const { database } = world.store
  await ask(10n * usd)
  await round({ isPaused: async () => true })
  await stopPayouts(database, network, -1n, 1n)
  await round()
  await world.store.owner.query('delete from custody_difference')
  await recordRestore(database, deps(), { network, untilBlock: 10n ** 9n, reason: 'test' })
  await round()
  expect(await received(to)).toBe(0n)
  expect(await newest()).toMatchObject({ state: 'asked' })
  await world.store.owner.query('update restore_gap set reconciled_at = now() where reconciled_at is null')
  await round()
  expect(await received(to)).toBe(10n * usd)
})

test('the schedule withdraws once in its time, from its minimum on; a large amount waits for a person', async () => {
  const scheduled = { ...policy, everyMs: 3_600_000 }
  const small = parsePayoutPolicy({ approval_usd: '999' })
  const again = () => world.store.owner.query('delete from custody_status')
  await round({ withdrawals: { ...scheduled, minimumMicro: 1_001n * usd } })
  expect(await newest()).not.toMatchObject({ payee: to })
  await again()
  for (let n = 0; n < 3; n += 1) {
    await round({ withdrawals: scheduled, policy: small })
    await again()
  }
  const mine = (await listWithdrawals(world.store.database, { limit: 9 })).filter(({ payee }) => payee === to)
  expect(mine).toMatchObject([{ requestedBy: 'schedule', payout: { state: 'waiting', amountMicro: 1_000n * usd } }])
  expect(await received(to)).toBe(0n)
})

test('an authorization that expired unused gives the money back to the operator', async () => {
  const before = await balanceOf(world.store.database, accounts.operator(network, 'usdc'))
  await ask(10n * usd)
  await runWithdrawals(deps())
  await world.store.owner.query(
    `update payout set state = 'signed', payer = $1, nonce = sha256('x'), signature = 'x', valid_before = 1, head_block = 1, signed_at = now()
     where purpose = 'withdrawal' and payee = $2`,
    [books.custody.address, to],
  )
  await runPayouts(deps({ isPaused: async () => true }))
  expect(await newest()).toMatchObject({ payout: { state: 'returned' } })
  expect(await balanceOf(world.store.database, accounts.operator(network, 'usdc'))).toBe(before)
})
