import type { Hex } from '@assay/protocol/bytes'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import {
  allEnded,
  count,
  fundedWallet,
  isUsed,
  open,
  outcomeOf,
  rowsOf,
  shop,
  transfer,
  until,
  useWallets,
  world,
} from './use-wallets.fixture.ts'
import { testHolder, testKey } from './wallet.fixture.ts'
import { createWalletKey } from './wallet-key.ts'

useWallets()

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
    await world.devnet.control.holdMining()
    const first = open()
    const stuck = await first.send(transfer())
    expect(await count(first)).toBe(0)
    expect(await count(first, 'pending')).toBe(1)
    await first.stop()
    const second = open()
    const sent = second.send(transfer())
    await until(async () => (await count(second, 'pending')) === 2, 'both wait')
    await world.devnet.control.releaseMining()
    expect(await outcomeOf(await sent)).toMatchObject({ status: 'mined' })
    expect((await outcomeOf(stuck)).status).toBe('stopped')
  })

  it('uses another wallet for what comes while the first is busy', async () => {
    world.keys.push(await fundedWallet())
    const wallets = open()
    await world.devnet.control.holdMining()
    const sent = await Promise.all([wallets.send(transfer()), wallets.send(transfer()), wallets.send(transfer())])
    const { rows } = await world.store.database.query<{ wallet: string }>(
      'select distinct wallet from settlement_transaction where wallet = any($1)',
      [wallets.addresses],
    )
    expect(rows).toHaveLength(2)
    await world.devnet.control.releaseMining()
    for (const one of sent) expect(await outcomeOf(one)).toMatchObject({ status: 'mined' })
  })

  it('replaces what is stuck by the same call at a higher fee, and counts whichever was mined once', async () => {
    const wallets = open()
    await world.devnet.control.holdMining()
    const call = transfer()
    const sent = await wallets.send(call)
    await until(async () => ((await rowsOf(wallets))[0]?.earlier_hashes.length ?? 0) >= 2, 'two replacements')
    await world.devnet.control.releaseMining()
    const outcome = await outcomeOf(sent)
    expect(outcome.status).toBe('mined')
    expect(await isUsed(call.nonce)).toBe(true)
    expect(await count(wallets)).toBe(1)
    await until(() => allEnded(wallets), 'noted')
    const [row] = await rowsOf(wallets)
    expect(outcome.status === 'mined' && outcome.receipt.transactionHash).toBe(row?.mined_hash)
    expect([row?.hash, ...(row?.earlier_hashes ?? [])]).toContain(row?.mined_hash)
  })

  it('sends again what the nodes have dropped', async () => {
    const wallets = open({ limits: { stuckMs: 60_000 } })
    await world.devnet.control.holdMining()
    const sent = await wallets.send(transfer())
    if (sent.status === 'sent') expect(await world.devnet.control.dropTransaction(sent.transaction)).toBe(true)
    expect(await count(wallets, 'pending')).toBe(0)
    await until(async () => (await count(wallets, 'pending')) === 1, 'sent again')
    await world.devnet.control.releaseMining()
    expect(await outcomeOf(sent)).toMatchObject({ status: 'mined' })
  })

  it('finds the outcome when the answer to the broadcast was lost', async () => {
    const wallets = open()
    world.devnet.control.failNext('eth_sendRawTransaction', { when: 'after' })
    const call = transfer()
    expect(await outcomeOf(await wallets.send(call))).toMatchObject({ status: 'mined' })
    expect(await isUsed(call.nonce)).toBe(true)
    expect(await count(wallets)).toBe(1)
  })

  it('sends again while somebody waits when no node has taken it', async () => {
    const wallets = open()
    world.devnet.control.failNext('eth_sendRawTransaction')
    const call = transfer()
    expect(await outcomeOf(await wallets.send(call))).toMatchObject({ status: 'mined' })
    expect(await isUsed(call.nonce)).toBe(true)
  })

  it('fills the nonce when nobody waits any more for what no node has taken', async () => {
    const wallets = open()
    world.devnet.control.failNext('eth_sendRawTransaction')
    let wanted = true
    const call = transfer({ stillWanted: () => wanted })
    const sending = wallets.send(call)
    await until(async () => (await rowsOf(wallets)).length === 1, 'stored')
    wanted = false
    expect((await outcomeOf(await sending)).status).toBe('replaced')
    expect(await isUsed(call.nonce)).toBe(false)
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect(await count(wallets)).toBe(2)
  })

  it('says that nothing was sent when it has no gas, and goes on with the same nonce once it has', async () => {
    const poor = testKey('poor wallet')
    const wallets = open({ keys: [poor.privateKey] })
    expect(await wallets.send(transfer())).toMatchObject({ status: 'not_sent', reason: 'unfunded' })
    await world.devnet.control.fund(poor.address, { microUsdc: 0n })
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect((await rowsOf(wallets)).map((row) => Number(row.nonce))).toEqual([0])
  })

  it('moves on when somebody else used its nonce', async () => {
    const wallets = open()
    await outcomeOf(await wallets.send(transfer()))
    const elsewhere = await createWalletKey(world.keys[0] as Hex).sign({
      chainId: world.network.chainId,
      nonce: 1n,
      gasLimit: 21_000n,
      to: shop,
      value: 0n,
      data: '0x',
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 9n,
    })
    await world.devnet.request('eth_sendRawTransaction', [elsewhere.raw])
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    expect(await count(wallets)).toBe(3)
  })

  it('brings back what a reorganization removed from the chain, or nothing behind it would move', async () => {
    const wallets = open()
    const first = transfer()
    await outcomeOf(await wallets.send(first))
    await world.devnet.control.holdMining()
    await world.devnet.control.reorg(1, { transactions: 'drop' })
    expect(await count(wallets)).toBe(0)
    const second = await wallets.send(transfer())
    await world.devnet.control.releaseMining()
    expect(await outcomeOf(second)).toMatchObject({ status: 'mined' })
    expect(await isUsed(first.nonce)).toBe(true)
  })
})

describe('a wallet shared by processes', () => {
  it('is used by one at a time and handed over, every call settling once', async () => {
    const second = await testHolder(world.store.database)
    const limits = { inFlightPerWallet: 50, waitForWalletMs: 60_000 }
    const [a, b] = [open({ limits }), open({ holder: second, limits })]
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
    await world.store.owner.query('update settlement_wallet set token = token + 1, holder = 1 where wallet = any($1)', [
      wallets.addresses,
    ])
    await world.store.owner.query(
      `update settlement_wallet set expires_at = clock_timestamp() + interval '1 hour' where wallet = any($1)`,
      [wallets.addresses],
    )
    const otherLock = await world.store.database.holdLock(1n)
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
    await world.holder.die()
    const second = await testHolder(world.store.database)
    const wallets = open({ holder: second })
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
    await wallets.stop()
    await second.die()
  })
})

describe('wallet balances', () => {
  it('are read for all wallets at once', async () => {
    const wallets = open()
    expect((await wallets.balances())[0]?.wei).toBe(10n ** 21n)
  })
})
