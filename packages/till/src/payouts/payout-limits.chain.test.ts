import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { type OutgoingCall, type SettlementWallets, SignerRefused, signerOf } from '../chain/wallet/index.ts'
import { world } from '../chain/wallet/use-wallets.fixture.ts'
import { testKey } from '../chain/wallet/wallet.fixture.ts'
import { systemClock } from '../kernel/clock.ts'
import { accounts } from '../ledger/index.ts'
import { approvePayout } from './approve-payout.ts'
import { createCustodyKey } from './custody-key.ts'
import { createPayout, parsePayoutPolicy, runPayouts, stopPayouts } from './index.ts'
import { base, books, ids, owe, paidCount, payouts, received, states, usePayouts } from './payouts.fixture.ts'

usePayouts()

const usd = 1_000_000n
const idOf = async (state: string) => {
  const { rows } = await world.store.database.query<{ id: string }>(
    `select id from payout where purpose = $1 and state = $2`,
    [books.purpose, state],
  )
  return rows[0]?.id ?? ''
}

test('unfunded payouts starve funded ones', async () => {
  const [poor, funded] = books.payees as [Address, Address]
  books.custody = createCustodyKey(testKey(`small custody ${books.number}`).privateKey)
  await world.devnet.control.fund(books.custody.address, { microUsdc: 50n * usd, wei: 0n })
  await owe(poor, 900n * usd)
  const deps = payouts({ policy: parsePayoutPolicy({ batch_max: 1 }) })
  await runPayouts(deps)
  await owe(funded, 20n * usd)
  await runPayouts(deps)
  expect(await received(funded)).toBe(20n * usd)
  expect(await states()).toMatchObject([{ state: 'queued', reason: 'unfunded' }, { state: 'paid' }])
  expect(new Set(books.alarms)).toEqual(new Set(['payouts_unfunded']))
})

test('payouts wait for a signer that is away, and one that it refuses holds up no other', async () => {
  const [large, small] = books.payees as [Address, Address]
  const held = signerOf(testKey(`custody ${books.number}`).privateKey)
  let away = true
  books.custody = createCustodyKey({
    address: held.address,
    sign: async (request) => {
      if (away) throw new Error('the signer does not answer')
      if (request.kind === 'transfer' && request.authorization.value > 20n * usd) throw new SignerRefused('limit')
      return held.sign(request)
    },
  })
  await owe(large, 21n * usd)
  await owe(small, 12n * usd)
  await runPayouts(payouts())
  expect(await states()).toMatchObject([{ state: 'queued' }, { state: 'queued' }])
  expect(await received(small)).toBe(0n)
  away = false
  await runPayouts(payouts())
  await runPayouts(payouts())
  expect(await received(small)).toBe(12n * usd)
  expect(await received(large)).toBe(0n)
  expect(await states()).toMatchObject([{ state: 'queued', reason: 'signer_refused' }, { state: 'paid' }])
  expect(new Set(books.alarms)).toEqual(new Set(['signer_refused']))
})

test('a payout above the daily limit can never be paid and says nothing', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20n * usd)
  const deps = payouts({ policy: parsePayoutPolicy({ daily_limit_usd: '19' }) })
  await runPayouts(deps)
  expect(await states()).toEqual([{ state: 'waiting', reason: 'above_daily_limit' }])
  expect(books.alarms).toEqual(['payout_above_limit'])
  await runPayouts(deps)
  expect(books.alarms).toEqual(['payout_above_limit'])
  await approvePayout(world.store.database, await idOf('waiting'), 'test')
  await runPayouts(deps)
  expect(await received(payee)).toBe(20n * usd)
})

test('a queued payout that a lower limit would hold for ever waits for a person, with an alarm', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20n * usd)
  const { chain, rpc } = books
  await runPayouts(payouts({ chains: [{ chain, rpc }] }))
  expect(await states()).toMatchObject([{ state: 'queued' }])
  await runPayouts(payouts({ policy: parsePayoutPolicy({ daily_limit_usd: '19' }) }))
  expect(await states()).toEqual([{ state: 'waiting', reason: 'above_daily_limit' }])
  expect(books.alarms).toEqual(['payout_above_limit'])
})

test('limits are shared between purposes', async () => {
  const [first, second, third] = books.payees as [Address, Address, Address]
  const other = `${books.purpose}b`
  await owe(first, 15n * usd)
  await owe(second, 15n * usd)
  await owe(third, 15n * usd, other)
  const policy = parsePayoutPolicy({ daily_limit_usd: '20', daily_limits_usd: { [other]: '15' } })
  await runPayouts(payouts({ policy, purposes: [{ purpose: books.purpose }, { purpose: other }] }))
  expect(await received(third)).toBe(15n * usd)
  expect((await states()).map(({ state, reason }) => reason ?? state).sort()).toEqual(['daily_limit', 'paid'])
})

/** Records what is sent, and refuses what is larger than it takes. */
function choosyWallets(payoutsMax: number): { wallets: SettlementWallets; sent: OutgoingCall[] } {
  const sent: OutgoingCall[] = []
  const wallets: SettlementWallets = {
    ...books.wallets,
    send: async (call) => {
      sent.push(call)
      if (call.references.length > payoutsMax)
        return { status: 'not_sent', reason: 'refused', message: 'exceeds the gas limit of a transaction' }
      return books.wallets.send(call)
    },
  }
  return { wallets, sent }
}

test('payout batches above the transaction gas cap stay signed', async () => {
  const { chain, rpc, custody } = books
  const network = { ...chain.network, transactionGasMax: 100_000n + 2n * 120_000n }
  for (const payee of books.payees) await owe(payee, 20n * usd)
  const { wallets, sent } = choosyWallets(500)
  await runPayouts(payouts({ chains: [{ chain: { ...chain, network }, rpc, key: custody, wallets }] }))
  expect(sent.map(({ references }) => references.length)).toEqual([2, 1])
  for (const { gasLimit } of sent) expect(gasLimit <= network.transactionGasMax).toBe(true)
  expect(await paidCount()).toBe(3)
})

test('a batch that every endpoint refuses is sent in halves, and one payout that is refused alone raises an alarm', async () => {
  for (const payee of books.payees) await owe(payee, 20n * usd)
  const one = choosyWallets(1)
  const none = choosyWallets(0)
  await runPayouts(payouts({}, none.wallets))
  expect(none.sent.map(({ references }) => references.length)).toEqual([3, 2, 1, 1, 1])
  expect(new Set(books.alarms)).toEqual(new Set(['payouts_refused']))
  await runPayouts(payouts({}, one.wallets))
  expect(await paidCount()).toBe(3)
})

test('what a batch may cost in gas is bound to what it moves', async () => {
  for (const payee of books.payees) await owe(payee, 20n * usd)
  const { wallets, sent } = choosyWallets(500)
  await runPayouts(payouts({}, wallets))
  expect(sent.map(({ costMicroMax }) => costMicroMax)).toEqual([3n * usd])
})

test('money leaves while the books miss money, or were restored', async () => {
  const [payee] = books.payees as [Address]
  const { database } = world.store
  await owe(payee, 20n * usd)
  await stopPayouts(database, base, -1n, 1n)
  await runPayouts(payouts())
  expect(await states()).toEqual([])
  await world.store.owner.query('delete from custody_difference')
  await database.query(
    `insert into restore_gap (network, reason, until_block, lapses_at) values ($1, 'test', 1, now())`,
    [base],
  )
  await runPayouts(payouts())
  expect(await states()).toEqual([])
  await world.store.owner.query('update restore_gap set reconciled_at = now()')
  await runPayouts(payouts())
  expect(await received(payee)).toBe(20n * usd)
})

test('a refund that expired unused is signed again under the same nonce', async () => {
  const [payee] = books.payees as [Address]
  const { database } = world.store
  const nonces = async () => {
    const { rows } = await database.query<{ state: string; nonce: Buffer | null }>(
      `select state, nonce from payout where account = 'once'`,
    )
    return rows.map(({ state, nonce }) => [state, nonce?.toString('hex')])
  }
  await database.transaction((tx) =>
    createPayout(tx, {
      id: ids.next('po'),
      network: base,
      payee,
      amountMicro: 20n * usd,
      purpose: 'refund',
      account: 'once',
      from: [{ account: accounts.revenue(base, 'report'), amount: 20n * usd }],
      approved: true,
      nowMs: systemClock.nowMs(),
    }),
  )
  const { chain, rpc, custody, wallets } = books
  const unsent: SettlementWallets = { ...wallets, send: async () => ({ status: 'not_sent', reason: 'no_wallet' }) }
  const policy = parsePayoutPolicy({ valid_seconds: 60 })
  await runPayouts(payouts({ policy, chains: [{ chain, rpc, key: custody, wallets: unsent }] }))
  const [signed] = await nonces()
  expect(signed?.[0]).toBe('signed')
  world.devnet.control.advanceTime(120)
  await world.devnet.control.mine(1)
  await runPayouts(payouts({ chains: [{ chain, rpc }] }))
  expect(await nonces()).toEqual([['queued', undefined]])
  await runPayouts(payouts())
  expect(await nonces()).toEqual([['paid', signed?.[1]]])
  expect(await received(payee)).toBe(20n * usd)
})
