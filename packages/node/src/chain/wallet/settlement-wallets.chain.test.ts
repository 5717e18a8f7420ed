import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../devnet/index.ts'
import type { Hex } from '../../kernel/bytes.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import type { Network } from '../network.ts'
import type { RpcEndpoint } from '../rpc.ts'
import { transferCall } from './authorization-calls.ts'
import type { OutgoingCall, SendResult } from './lane-state.ts'
import type { SettlementWallets } from './settlement-wallets.ts'
import {
  demoNetwork,
  devnetEndpoint,
  type TestHolder,
  testHolder,
  testKey,
  testPayer,
  testWallets,
} from './wallet.fixture.ts'
import { createWalletKey } from './wallet-key.ts'

const shop = testKey('shop').address
const payer = testPayer('payer')

let devnet: Devnet
let store: TestDatabase
let network: Network
let endpoint: RpcEndpoint
let holder: TestHolder
/** Each test has wallets of its own, so that nonces and leases of one never meet those of another. */
let walletNumber = 0
let keys: Hex[]
const running: SettlementWallets[] = []

beforeAll(async () => {
  store = await openTestDatabase()
  devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, fund: [payer.address] })
  network = demoNetwork(devnet)
  endpoint = devnetEndpoint(devnet)
})
afterAll(async () => {
  await devnet?.stop()
  await store?.close()
})
beforeEach(async () => {
  holder = await testHolder(store.database)
  keys = [await fundedWallet()]
})
afterEach(async () => {
  devnet.control.clearFaults()
  await devnet.control.releaseMining()
  await Promise.all(running.splice(0).map((wallets) => wallets.stop()))
  await holder.die()
})

async function fundedWallet(): Promise<Hex> {
  walletNumber += 1
  const { privateKey, address } = testKey(`wallet ${walletNumber}`)
  await devnet.control.fund(address, { microUsdc: 0n })
  return privateKey
}

function open(overrides: Partial<Parameters<typeof testWallets>[0]> = {}): SettlementWallets {
  const wallets = testWallets({ network, endpoints: [endpoint], database: store.database, holder, keys, ...overrides })
  running.push(wallets)
  return wallets
}

function transfer(overrides: Partial<OutgoingCall> = {}): OutgoingCall & { nonce: Hex } {
  const { authorization, signature } = payer.authorize(network, { to: shop })
  return {
    purpose: 'settle',
    references: ['pay_1'],
    to: network.usdc.address,
    data: transferCall(authorization, signature),
    gasLimit: 150_000n,
    stillWanted: () => true,
    nonce: authorization.nonce,
    ...overrides,
  }
}

const isUsed = async (nonce: Hex): Promise<boolean> =>
  BigInt(
    (await devnet.request('eth_call', [
      { to: network.usdc.address, data: `0xe94a0102${payer.address.slice(2).padStart(64, '0')}${nonce.slice(2)}` },
      'latest',
    ])) as string,
  ) === 1n

const count = async (wallets: SettlementWallets, tag = 'latest'): Promise<number> =>
  Number(await devnet.request('eth_getTransactionCount', [wallets.addresses[0], tag]))

async function outcomeOf(result: SendResult) {
  if (result.status !== 'sent') throw new Error(`${result.reason}: ${result.message}`)
  return result.outcome
}

async function rowsOf(wallets: SettlementWallets) {
  const { rows } = await store.database.query<{
    nonce: bigint
    state: string
    purpose: string
    hash: Hex
    earlier_hashes: Hex[]
    mined_hash: Hex | null
    token: bigint
  }>(
    'select nonce, state, purpose, hash, earlier_hashes, mined_hash, token from settlement_transaction where wallet = any($1) order by nonce',
    [wallets.addresses],
  )
  return rows
}

async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    if (await condition()) return
    await systemClock.sleep(25)
  }
  throw new Error(`not reached: ${what}`)
}

const allEnded = async (wallets: SettlementWallets) =>
  (await rowsOf(wallets)).every((row) => row.state === 'mined' || row.state === 'superseded')

describe('a settlement wallet', () => {
  it('gives fifty calls at once nonces without gap or repetition, and stores each before it is sent', async () => {
    const wallets = open({ limits: { inFlightPerWallet: 50 } })
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => outcomeOf(await wallets.send(transfer()))),
    )
    expect(outcomes.every((outcome) => outcome.status === 'mined')).toBe(true)
    await until(() => allEnded(wallets), 'all noted')
    const rows = await rowsOf(wallets)
    expect(rows.map((row) => Number(row.nonce))).toEqual(Array.from({ length: 50 }, (_, nonce) => nonce))
  })

  it('starts at the nonce the pool of the chain expects', async () => {
    await devnet.control.holdMining()
    const first = open()
    const stuck = await first.send(transfer())
    expect(await count(first)).toBe(0)
    expect(await count(first, 'pending')).toBe(1)
    await first.stop()
    const second = open()
    const sent = second.send(transfer())
    await until(async () => (await count(second, 'pending')) === 2, 'both wait')
    await devnet.control.releaseMining()
    expect(await outcomeOf(await sent)).toMatchObject({ status: 'mined' })
    expect((await outcomeOf(stuck)).status).toBe('stopped')
  })

  it('uses another wallet for what comes while the first is busy', async () => {
    keys.push(await fundedWallet())
    const wallets = open()
    await devnet.control.holdMining()
    const sent = await Promise.all([wallets.send(transfer()), wallets.send(transfer()), wallets.send(transfer())])
    const { rows } = await store.database.query<{ wallet: string }>(
      'select distinct wallet from settlement_transaction where wallet = any($1)',
      [wallets.addresses],
    )
    expect(rows).toHaveLength(2)
    await devnet.control.releaseMining()
    for (const one of sent) expect(await outcomeOf(one)).toMatchObject({ status: 'mined' })
  })

  it('replaces what is stuck by the same call at a higher fee, and counts whichever was mined once', async () => {
    const wallets = open()
    await devnet.control.holdMining()
    const call = transfer()
    const sent = await wallets.send(call)
    await until(async () => ((await rowsOf(wallets))[0]?.earlier_hashes.length ?? 0) >= 2, 'two replacements')
    await devnet.control.releaseMining()
    const outcome = await outcomeOf(sent)
    expect(outcome.status).toBe('mined')
    expect(await isUsed(call.nonce)).toBe(true)
    expect(await count(wallets)).toBe(1)
    await until(() => allEnded(wallets), 'noted')
    const [row] = await rowsOf(wallets)
    expect(outcome.status === 'mined' && outcome.receipt.transactionHash).toBe(row?.mined_hash)
    expect([row?.hash, ...(row?.earlier_hashes ?? [])]).toContain(row?.mined_hash)
  })

  it('sends again what the nodes have forgotten', async () => {
    const wallets = open({ limits: { stuckMs: 60_000 } })
    await devnet.control.holdMining()
    const sent = await wallets.send(transfer())
    if (sent.status === 'sent') expect(await devnet.control.dropTransaction(sent.transaction)).toBe(true)
    expect(await count(wallets, 'pending')).toBe(0)
    await until(async () => (await count(wallets, 'pending')) === 1, 'sent again')
    await devnet.control.releaseMining()
    expect(await outcomeOf(sent)).toMatchObject({ status: 'mined' })
  })

  it('finds the outcome when the answer to the broadcast was lost', async () => {
    const wallets = open()
    devnet.control.failNext('eth_sendRawTransaction', { when: 'after' })
    const call = transfer()
    expect(await outcomeOf(await wallets.send(call))).toMatchObject({ status: 'mined' })
    expect(await isUsed(call.nonce)).toBe(true)
    expect(await count(wallets)).toBe(1)
  })

  it('sends again while somebody waits when no node has taken it', async () => {
    const wallets = open()
    devnet.control.failNext('eth_sendRawTransaction')
    const call = transfer()
    expect(await outcomeOf(await wallets.send(call))).toMatchObject({ status: 'mined' })
    expect(await isUsed(call.nonce)).toBe(true)
  })

  it('fills the nonce when nobody waits any more for what no node has taken', async () => {
    const wallets = open()
    devnet.control.failNext('eth_sendRawTransaction')
    let wanted = true
    const call = transfer({ stillWanted: () => wanted })
    const sending = wallets.send(call)
    await until(async () => (await rowsOf(wallets)).length === 1, 'stored')
    wanted = false
    expect((await outcomeOf(await sending)).status).toBe('displaced')
    expect(await isUsed(call.nonce)).toBe(false)
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect(await count(wallets)).toBe(2)
  })

  it('says that nothing was sent when it has no gas, and goes on with the same nonce once it has', async () => {
    const poor = testKey('poor wallet')
    const wallets = open({ keys: [poor.privateKey] })
    expect(await wallets.send(transfer())).toMatchObject({ status: 'not_sent', reason: 'unfunded' })
    await devnet.control.fund(poor.address, { microUsdc: 0n })
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect((await rowsOf(wallets)).map((row) => Number(row.nonce))).toEqual([0])
  })

  it('moves on when somebody else used its nonce', async () => {
    const wallets = open()
    await outcomeOf(await wallets.send(transfer()))
    const elsewhere = createWalletKey(keys[0] as Hex).sign({
      chainId: network.chainId,
      nonce: 1n,
      gasLimit: 21_000n,
      to: shop,
      value: 0n,
      data: '0x',
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 9n,
    })
    await devnet.request('eth_sendRawTransaction', [elsewhere.raw])
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect(await count(wallets)).toBe(3)
  })

  it('brings back what a reorganisation took out of the chain, or nothing behind it would move', async () => {
    const wallets = open()
    const first = transfer()
    await outcomeOf(await wallets.send(first))
    await devnet.control.holdMining()
    await devnet.control.reorg(1, { transactions: 'drop' })
    expect(await count(wallets)).toBe(0)
    const second = await wallets.send(transfer())
    await devnet.control.releaseMining()
    expect(await outcomeOf(second)).toMatchObject({ status: 'mined' })
    expect(await isUsed(first.nonce)).toBe(true)
  })
})

describe('a wallet shared by processes', () => {
  it('is used by one at a time and handed over, every call settling once', async () => {
    const second = await testHolder(store.database)
    const [a, b] = [
      open({ limits: { inFlightPerWallet: 50 } }),
      open({ holder: second, limits: { inFlightPerWallet: 50 } }),
    ]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await systemClock.sleep(index * 20)
        return outcomeOf(await (index % 2 ? a : b).send(transfer()))
      }),
    )
    expect(outcomes.every((outcome) => outcome.status === 'mined')).toBe(true)
    expect(await count(a)).toBe(20)
    await Promise.all([a.stop(), b.stop()])
    const tokens = new Set((await rowsOf(a)).map((row) => row.token))
    expect(tokens.size).toBeGreaterThan(1)
    await second.die()
  })

  it('stops sending for a process that lost its lease, and its later writes change nothing', async () => {
    const wallets = open({ limits: { leaseMs: 2_000, idleMs: 60_000 } })
    await outcomeOf(await wallets.send(transfer()))
    await store.owner.query('update settlement_lane set token = token + 1, holder = 1 where wallet = any($1)', [
      wallets.addresses,
    ])
    await store.owner.query(
      `update settlement_lane set expires_at = clock_timestamp() + interval '1 hour' where wallet = any($1)`,
      [wallets.addresses],
    )
    const otherLock = await store.database.holdLock(1n)
    const call = transfer()
    const deadline = systemClock.nowMs() + 600
    expect(await wallets.send({ ...call, stillWanted: () => systemClock.nowMs() < deadline })).toMatchObject({
      status: 'not_sent',
      reason: 'no_wallet',
    })
    expect(await isUsed(call.nonce)).toBe(false)
    expect((await rowsOf(wallets)).map((row) => Number(row.nonce))).toEqual([0])
    await otherLock.release()
  })

  it('is free at once when its process dies, long before the lease runs out', async () => {
    const first = open({ limits: { leaseMs: 3_600_000, idleMs: 3_600_000 } })
    await outcomeOf(await first.send(transfer()))
    await holder.die()
    const second = await testHolder(store.database)
    const wallets = open({ holder: second })
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    await wallets.stop()
    await second.die()
  })
})

describe('after a crash', () => {
  /** Everything a process does to the outside goes through here, until it dies at the given call. */
  function dyingProcess(killAt: number, when: 'before' | 'after') {
    let calls = 0
    let dead = false
    const wrap =
      <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if (dead) throw new Error('dead')
        calls += 1
        const dies = calls === killAt
        if (dies && when === 'before') {
          dead = true
          await holder.die()
          throw new Error('killed')
        }
        const answer = await work(...args)
        if (dies) {
          dead = true
          await holder.die()
          throw new Error('killed')
        }
        return answer
      }
    return {
      endpoint: { name: 'dying', send: wrap(endpoint.send) },
      database: { ...store.database, query: wrap(store.database.query) } as TestDatabase['database'],
      wasKilled: () => dead,
    }
  }

  for (const when of ['before', 'after'] as const)
    it(`leaves nothing stuck and sends nothing for a buyer who has gone, killed ${when} each call`, async () => {
      let kills = 0
      for (let killAt = 1; killAt < 40; killAt += 1) {
        keys = [await fundedWallet()]
        const process = dyingProcess(killAt, when)
        const doomed = open({ endpoints: [process.endpoint], database: process.database })
        const calls = [transfer(), transfer()]
        const results: SendResult[] = []
        for (const call of calls) results.push(await doomed.send(call))
        await doomed.stop()
        const sentBefore = await Promise.all(calls.map((call) => isUsed(call.nonce)))
        const survived = !process.wasKilled()
        if (!survived) kills += 1
        holder = survived ? holder : await testHolder(store.database)
        const next = open()
        expect((await next.recoverLanes())[0]?.status).toBe('taken_over')
        await until(() => allEnded(next), `recovery after call ${killAt}`)
        expect(await Promise.all(calls.map((call) => isUsed(call.nonce)))).toEqual(sentBefore)
        results.forEach((result, index) => {
          if (result.status === 'not_sent') expect(sentBefore[index]).toBe(false)
        })
        expect(await outcomeOf(await next.send(transfer()))).toMatchObject({ status: 'mined' })
        expect(await count(next)).toBe(await count(next, 'pending'))
        await next.stop()
        if (survived) break
      }
      expect(kills).toBeGreaterThan(8)
    })

  it('keeps a transaction going that a node had taken, until its nonce is used', async () => {
    await devnet.control.holdMining()
    const first = open()
    const call = transfer()
    await first.send(call)
    await until(async () => (await rowsOf(first))[0]?.state === 'broadcast', 'noted')
    await holder.die()
    await first.stop()
    await devnet.control.dropTransaction((await rowsOf(first))[0]?.hash as Hex)
    holder = await testHolder(store.database)
    const next = open()
    await next.recoverLanes()
    await devnet.control.releaseMining()
    await until(() => allEnded(next), 'mined')
    expect(await isUsed(call.nonce)).toBe(true)
  })

  it('puts an empty transfer in the place of a broadcast that can only fail by now', async () => {
    await devnet.control.holdMining()
    const first = open()
    const call = transfer({ usefulUntil: Math.floor(systemClock.nowMs() / 1000) + 1 })
    await first.send(call)
    await until(async () => (await rowsOf(first))[0]?.state === 'broadcast', 'noted')
    await holder.die()
    await first.stop()
    await devnet.control.dropTransaction((await rowsOf(first))[0]?.hash as Hex)
    await systemClock.sleep(1_100)
    holder = await testHolder(store.database)
    const next = open()
    await next.recoverLanes()
    await devnet.control.releaseMining()
    await until(() => allEnded(next), 'filled')
    expect((await rowsOf(next))[0]?.purpose).toBe('fill')
    expect(await isUsed(call.nonce)).toBe(false)
  })

  it('fills a nonce that nothing is known about', async () => {
    await devnet.control.holdMining()
    const first = open()
    await first.send(transfer())
    await first.send(transfer())
    await until(
      async () => (await rowsOf(first)).every((row) => row.state === 'broadcast') && (await rowsOf(first)).length === 2,
      'two',
    )
    await holder.die()
    await first.stop()
    for (const row of await rowsOf(first)) await devnet.control.dropTransaction(row.hash)
    await store.owner.query('delete from settlement_transaction where wallet = any($1) and nonce = 0', [
      first.addresses,
    ])
    holder = await testHolder(store.database)
    const next = open()
    await next.recoverLanes()
    await devnet.control.releaseMining()
    await until(async () => (await count(next)) === 2, 'both used')
    expect((await rowsOf(next))[0]?.purpose).toBe('fill')
  })
})

describe('wallet balances', () => {
  it('are read for all wallets at once', async () => {
    const wallets = open()
    expect((await wallets.balances())[0]?.wei).toBe(10n ** 21n)
  })
})
