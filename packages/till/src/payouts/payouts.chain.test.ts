import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import {
  createWalletClient,
  encodeErrorResult,
  encodeFunctionData,
  encodeFunctionResult,
  keccak256,
  parseAbi,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { createRpc, type RpcEndpoint, RpcRefusal } from '../chain/index.ts'
import { readAggregate3 } from '../chain/wallet/index.ts'
import { open, outcomeOf, rowsOf, transfer, until, world } from '../chain/wallet/use-wallets.fixture.ts'
import { testHolder, testKey } from '../chain/wallet/wallet.fixture.ts'
import { demoIssuer, devnetTransport } from '../devnet/index.ts'
import { systemClock } from '../kernel/clock.ts'
import { accounts, balanceOf, credit, debit, owedTo, post } from '../ledger/index.ts'
import { isRestoring } from '../store/restore.ts'
import { approvePayout } from './approve-payout.ts'
import { createCustodyKey } from './custody-key.ts'
import { parsePayoutPolicy, postGas, runPayouts } from './index.ts'
import { base, books, owe, paidCount, payouts, received, states, transactions, usePayouts } from './payouts.fixture.ts'

usePayouts()

test('many payees are paid by one transaction, each once, and the books follow', async () => {
  for (const payee of books.payees) await owe(payee, 20_000_000n)
  await runPayouts(payouts())
  expect(await paidCount()).toBe(3)
  expect(await transactions()).toBe(1n)
  for (const payee of books.payees) expect(await received(payee)).toBe(20_000_000n)
  await runPayouts(payouts())
  for (const payee of books.payees) expect(await received(payee)).toBe(20_000_000n)
  expect(await owedTo(world.store.database, accounts.payable(base, books.payees[0] as Address, books.purpose))).toBe(0n)
})

test('the gas of payouts is in the books once its block is final, once, and what settles payments is left to them', async () => {
  const cost = async () => {
    const { rows } = await world.store.database.query<{ gwei: bigint }>(
      `select ceil(sum(cost_wei) / 1000000000)::bigint as gwei from settlement_transaction where wallet = any($1) and purpose = 'payout'`,
      [books.wallets.addresses],
    )
    return rows[0]?.gwei ?? 0n
  }
  const spent = (purpose: string) => balanceOf(world.store.database, accounts.gasSpent(base, purpose))
  const postGasOnce = () => postGas({ database: world.store.database }, books.chain)
  await postGasOnce()
  const before = await spent('node.payout')
  await owe(books.payees[0] as Address, 20_000_000n)
  await outcomeOf(await books.wallets.send(transfer()))
  world.devnet.control.setFinalityLag(3)
  await world.devnet.control.mine(4)
  await runPayouts(payouts())
  await until(async () => (await cost()) > 0n, 'mined')
  await postGasOnce()
  expect(await spent('node.payout')).toBe(before)
  await world.devnet.control.mine(4)
  await Promise.all([postGasOnce(), postGasOnce()])
  expect((await spent('node.payout')) - before).toBe(await cost())
  expect(await spent('node.settle')).toBe(0n)
})

test('L17: below the minimum nothing is sent and nothing is lost; the rest of a debt joins the next', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 9_999_999n)
  await runPayouts(payouts())
  expect(await states()).toEqual([])
  await owe(payee, 1n)
  await runPayouts(payouts())
  expect(await received(payee)).toBe(10_000_000n)
})

test('a blocked payee is parked without harm to others, and is paid once it can receive', async () => {
  const [blocked, other] = books.payees as [Address, Address]
  const issuer = privateKeyToAccount(demoIssuer(8453).privateKey)
  const client = createWalletClient({ account: issuer, transport: devnetTransport(world.devnet) })
  const usdc = parseAbi(['function blacklist(address)', 'function unBlacklist(address)'])
  const call = (functionName: 'blacklist' | 'unBlacklist') =>
    client.sendTransaction({
      chain: null,
      to: world.devnet.usdc,
      data: encodeFunctionData({ abi: usdc, functionName, args: [blocked] }),
    })
  await call('blacklist')
  await owe(blocked, 20_000_000n)
  await owe(other, 20_000_000n)
  await runPayouts(payouts())
  expect(await received(other)).toBe(20_000_000n)
  expect((await states()).map(({ state }) => state).sort()).toEqual(['paid', 'parked'])
  await call('unBlacklist')
  const { rows } = await world.store.database.query<{ id: string }>(
    `select id from payout where purpose = $1 and state = 'parked'`,
    [books.purpose],
  )
  expect(await approvePayout(world.store.database, rows[0]?.id ?? '', 'test')).toBe('approved')
  await runPayouts(payouts())
  expect(await received(blocked)).toBe(20_000_000n)
  expect(await received(other)).toBe(20_000_000n)
})

/** Says the same of every member of a multicall, and otherwise what the chain says. */
const liar = (says: { success: boolean; returnData: Hex }): RpcEndpoint => ({
  name: 'liar',
  send: async (calls) => {
    const answers = await world.endpoint.send(calls)
    return answers.map((answer, index) => {
      const members = calls[index]?.method === 'eth_call' ? (readAggregate3(answer, 1)?.length ?? 0) : 0
      if (members === 0) return answer
      return encodeFunctionResult({ abi: multicall, functionName: 'aggregate3', result: [says] })
    })
  },
})
const multicall = parseAbi([
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3() returns (Result[] results)',
])
const blocked = encodeErrorResult({
  abi: parseAbi(['error Error(string)']),
  errorName: 'Error',
  args: ['Blacklistable: account is blacklisted'],
})

test.each([
  ['called a payee blocked parked its payout', { success: false, returnData: blocked }],
  [
    'called a nonce used stopped payouts as after a restore',
    { success: true, returnData: `0x${'1'.padStart(64, '0')}` },
  ],
] as const)('one endpoint that %s', async (_, lie) => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20_000_000n)
  const { chain, custody: key, wallets } = books
  const seenBy = (...endpoints: RpcEndpoint[]) =>
    payouts({ chains: [{ chain, rpc: createRpc(endpoints, { clock: systemClock }), key, wallets }] })
  await runPayouts(seenBy(liar(lie), world.endpoint))
  expect(await isRestoring(world.store.database, base)).toBe(false)
  expect((await states()).filter(({ state }) => state === 'parked')).toEqual([])
  expect(books.alarms).toEqual([])
  await runPayouts(seenBy(liar(lie), world.endpoint, { ...world.endpoint, name: 'another' }))
  expect(await received(payee)).toBe(20_000_000n)
})

test('the kill switch, the daily limit, approval and an empty custody wallet each keep money in', async () => {
  const [payee, second] = books.payees as [Address, Address]
  await owe(payee, 2_000_000_000n)
  await runPayouts(payouts({ isPaused: async () => true }))
  expect(await states()).toEqual([])
  await runPayouts(payouts())
  expect(await states()).toMatchObject([{ state: 'waiting' }])
  const { rows } = await world.store.database.query<{ id: string }>(`select id from payout where purpose = $1`, [
    books.purpose,
  ])
  await approvePayout(world.store.database, rows[0]?.id ?? '', 'test')
  await runPayouts(payouts())
  expect(await states()).toMatchObject([{ state: 'queued', reason: 'unfunded' }])
  await owe(second, 20_000_000n)
  await runPayouts(payouts({ policy: parsePayoutPolicy({ daily_limit_usd: '19' }) }))
  expect((await states()).map(({ reason }) => reason)).toContain('above_daily_limit')
  expect(await received(payee)).toBe(0n)
  expect(await received(second)).toBe(0n)
})

test('money that is not final is not paid out', async () => {
  const [payee] = books.payees as [Address]
  const { address, privateKey } = testKey(`late custody ${books.number}`)
  books.custody = createCustodyKey(privateKey)
  world.devnet.control.setFinalityLag(5)
  await world.devnet.control.fund(address, { microUsdc: 100_000_000n, wei: 0n })
  await owe(payee, 20_000_000n)
  await runPayouts(payouts())
  expect(await states()).toMatchObject([{ state: 'queued', reason: 'unfunded' }])
  await world.devnet.control.mine(6)
  await runPayouts(payouts())
  await world.devnet.control.mine(6)
  await runPayouts(payouts())
  expect(await received(payee)).toBe(20_000_000n)
  expect(await paidCount()).toBe(1)
})

test('a share of a payment that is not final is not paid out, though custody holds enough of other people', async () => {
  const [payee, other] = books.payees as [Address, Address]
  const insert = (id: string, payer: Address) =>
    world.store.owner.query(
      `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
         resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final)
       values ('exact', 20000000, $1::text, 'served', $2::text, $2::text || '/erc20:0xa', $3, sha256($1::text::bytea), $3, 'custody', 20000000, 0, 'royalties.remit', '',
         sha256($1::text::bytea), true, 0, now(), now(), 1, false)`,
      [id, base, payer],
    )
  await insert(`pay_young_${books.number}`, payee)
  await world.store.owner.query(
    `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, state, held_at,
       expires_at, ended_at)
     values ($1, 'credit', $2, $3, 20000000, 'royalties.remit', 'x', true, 'captured', now(), now(), now())`,
    [`call_young_${books.number}`, payee, base],
  )
  const share = (id: string, to: Address) => ({
    reference: `royalty:${id}`,
    kind: 'opening',
    paymentId: id,
    lines: [
      debit(accounts.onchain(base, 'custody'), 20_000_000n),
      credit(accounts.payable(base, to, books.purpose), 20_000_000n),
    ],
  })
  await post(world.store.database, [
    share(`pay_young_${books.number}`, payee),
    share(`call_young_${books.number}`, other),
  ])
  await owe(payee, 15_000_000n)
  await runPayouts(payouts())
  // What was owed before is paid; what a reorg could still take away waits.
  expect(await received(payee)).toBe(15_000_000n)
  expect(await received(other)).toBe(0n)
  await world.store.owner.query(`update payment set final = true where id = $1`, [`pay_young_${books.number}`])
  await runPayouts(payouts())
  expect(await received(payee)).toBe(35_000_000n)
  expect(await received(other)).toBe(20_000_000n)
})

test('L18: two workers at once make one transfer per debt', async () => {
  for (const payee of books.payees) await owe(payee, 20_000_000n)
  const other = open({ holder: await testHolder(world.store.database) })
  await Promise.all([runPayouts(payouts()), runPayouts(payouts({}, other)), runPayouts(payouts())])
  await until(async () => {
    await runPayouts(payouts())
    return (await paidCount()) === 3
  }, 'all paid')
  for (const payee of books.payees) expect(await received(payee)).toBe(20_000_000n)
})

test('a stuck transaction is replaced by fee, a dropped one is sent again, and each transfer happens once', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20_000_000n)
  await world.devnet.control.holdMining()
  const running = runPayouts(payouts({ clock: { ...systemClock, sleep: () => systemClock.sleep(50) } }))
  await running
  const { rows } = await world.store.database.query<{ hash: `0x${string}` }>(
    `select hash from settlement_transaction where purpose = 'payout' and wallet = any($1)`,
    [books.wallets.addresses],
  )
  await world.devnet.control.dropTransaction(rows[0]?.hash as `0x${string}`)
  await world.devnet.control.releaseMining()
  await until(async () => {
    await runPayouts(payouts())
    return (await paidCount()) === 1
  }, 'paid after the drop')
  expect(await received(payee)).toBe(20_000_000n)
})

test('L16: replaced by fee, and then the original is mined after all: one transfer, under the hash that was mined', async () => {
  const [payee] = books.payees as [Address]
  const sent: Hex[] = []
  let closed = false
  const endpoint: RpcEndpoint = {
    ...world.endpoint,
    send: (calls) => {
      const [call] = calls
      if (call?.method !== 'eth_sendRawTransaction') return world.endpoint.send(calls)
      if (closed) throw new RpcRefusal(-32000, 'the pool takes nothing more')
      sent.push(call.params[0] as Hex)
      return world.endpoint.send(calls)
    },
  }
  const sender = open({ endpoints: [endpoint] })
  await owe(payee, 20_000_000n)
  await world.devnet.control.holdMining()
  await runPayouts(payouts({ clock: { ...systemClock, sleep: () => systemClock.sleep(50) } }, sender))
  const rowOf = async () => (await rowsOf(sender))[0]
  await until(async () => ((await rowOf())?.earlier_hashes.length ?? 0) > 0 && new Set(sent).size > 1, 'replaced')
  closed = true
  const [original] = sent as [Hex]
  await world.devnet.control.dropTransaction(keccak256(sent.at(-1) as Hex))
  await world.devnet.request('eth_sendRawTransaction', [original])
  await world.devnet.control.releaseMining()
  await until(async () => {
    await runPayouts(payouts({}, sender))
    return (await paidCount()) === 1
  }, 'paid by the original')
  expect(await received(payee)).toBe(20_000_000n)
  // The wallet's own watch records it at its next poll.
  await until(async () => (await rowOf())?.mined_hash === keccak256(original), 'noted by the wallet')
  const { rows } = await world.store.database.query(`select transaction from payout where purpose = $1`, [
    books.purpose,
  ])
  expect(rows).toEqual([{ transaction: keccak256(original) }])
})

test('L15: a process that dies after the broadcast leaves one transfer, found by the next', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20_000_000n)
  await world.devnet.control.holdMining()
  await runPayouts(payouts({ clock: { ...systemClock, sleep: () => systemClock.sleep(50) } }))
  await books.wallets.stop()
  await world.holder.die()
  world.holder = await testHolder(world.store.database)
  await world.devnet.control.releaseMining()
  // Nobody else looks after these wallets where a hosted facilitator settles: the payouts themselves must.
  const next = open()
  await until(async () => {
    await runPayouts(payouts({}, next))
    return (await paidCount()) === 1
  }, 'paid by the next process')
  expect(await received(payee)).toBe(20_000_000n)
})

test('a reorg before finality is followed by the same transfer once more, never by a second', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20_000_000n)
  world.devnet.control.setFinalityLag(4)
  await world.devnet.control.mine(5)
  await runPayouts(payouts())
  expect(await states()).toMatchObject([{ state: 'signed' }])
  await world.devnet.control.reorg(2, { transactions: 'drop' })
  await until(async () => {
    await runPayouts(payouts())
    await world.devnet.control.mine(2)
    return (await paidCount()) === 1
  }, 'paid after the reorg')
  expect(await received(payee)).toBe(20_000_000n)
})

test('an authorization that ran out unused gives its money back, and the next one pays', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20_000_000n)
  const policy = parsePayoutPolicy({ valid_seconds: 60 })
  await runPayouts(
    payouts({
      policy,
      chains: [
        {
          chain: books.chain,
          rpc: books.rpc,
          key: books.custody,
          wallets: { ...books.wallets, send: async () => ({ status: 'not_sent', reason: 'no_wallet' }) },
        },
      ],
    }),
  )
  expect(await states()).toMatchObject([{ state: 'signed' }])
  world.devnet.control.advanceTime(120)
  await world.devnet.control.mine(1)
  await runPayouts(payouts({ chains: [{ chain: books.chain, rpc: books.rpc }] }))
  expect((await states()).map(({ state }) => state)).toContain('returned')
  await until(async () => {
    await runPayouts(payouts())
    return (await paidCount()) === 1
  }, 'paid by a new authorization')
  expect(await received(payee)).toBe(20_000_000n)
})
