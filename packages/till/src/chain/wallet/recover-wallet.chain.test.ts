import type { Hex } from '@assay/protocol/bytes'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import type { TestDatabase } from '../../store/testing.ts'
import type { SendResult } from './leased-wallet-state.ts'
import {
  allEnded,
  count,
  fundedWallet,
  isUsed,
  open,
  outcomeOf,
  recover,
  rowsOf,
  transfer,
  until,
  useWallets,
  world,
} from './use-wallets.fixture.ts'
import { testHolder } from './wallet.fixture.ts'

useWallets()

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
          await world.holder.die()
          throw new Error('killed')
        }
        const answer = await work(...args)
        if (dies) {
          dead = true
          await world.holder.die()
          throw new Error('killed')
        }
        return answer
      }
    return {
      endpoint: { name: 'dying', send: wrap(world.endpoint.send) },
      database: { ...world.store.database, query: wrap(world.store.database.query) } as TestDatabase['database'],
      wasKilled: () => dead,
    }
  }

  for (const when of ['before', 'after'] as const)
    it(`leaves nothing stuck and sends nothing for a buyer who has gone, killed ${when} each call`, async () => {
      let kills = 0
      for (let killAt = 1; killAt < 40; killAt += 1) {
        world.keys = [await fundedWallet()]
        const process = dyingProcess(killAt, when)
        const doomed = open({ endpoints: [process.endpoint], database: process.database })
        const calls = [transfer(), transfer()]
        const results: SendResult[] = []
        for (const call of calls) results.push(await doomed.send(call))
        await doomed.stop()
        const sentBefore = await Promise.all(calls.map((call) => isUsed(call.nonce)))
        const survived = !process.wasKilled()
        if (!survived) kills += 1
        world.holder = survived ? world.holder : await testHolder(world.store.database)
        const next = open()
        await recover(next)
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
    await world.devnet.control.holdMining()
    const first = open()
    const call = transfer()
    await first.send(call)
    await until(async () => (await rowsOf(first))[0]?.state === 'broadcast', 'noted')
    await world.holder.die()
    await first.stop()
    await world.devnet.control.dropTransaction((await rowsOf(first))[0]?.hash as Hex)
    world.holder = await testHolder(world.store.database)
    const next = open()
    await recover(next)
    await world.devnet.control.releaseMining()
    await until(() => allEnded(next), 'mined')
    expect(await isUsed(call.nonce)).toBe(true)
  })

  it('puts an empty transfer in the place of a broadcast that can only fail by now', async () => {
    await world.devnet.control.holdMining()
    const first = open()
    const usefulUntil = Math.floor(systemClock.nowMs() / 1000) + 5
    const call = transfer({ usefulUntil })
    await first.send(call)
    await until(async () => (await rowsOf(first))[0]?.state === 'broadcast', 'noted')
    await world.holder.die()
    await first.stop()
    await world.devnet.control.dropTransaction((await rowsOf(first))[0]?.hash as Hex)
    await until(async () => systemClock.nowMs() > usefulUntil * 1000, 'useless')
    world.holder = await testHolder(world.store.database)
    const next = open()
    await recover(next)
    await world.devnet.control.releaseMining()
    await until(() => allEnded(next), 'filled')
    expect((await rowsOf(next))[0]?.purpose).toBe('fill')
    expect(await isUsed(call.nonce)).toBe(false)
  })

  it('fills a nonce that nothing is known about', async () => {
    await world.devnet.control.holdMining()
    const first = open()
    await first.send(transfer())
    await first.send(transfer())
    await until(
      async () => (await rowsOf(first)).every((row) => row.state === 'broadcast') && (await rowsOf(first)).length === 2,
      'two',
    )
    await world.holder.die()
    await first.stop()
    for (const row of await rowsOf(first)) await world.devnet.control.dropTransaction(row.hash)
    await world.store.owner.query('delete from settlement_transaction where wallet = any($1) and nonce = 0', [
      first.addresses,
    ])
    world.holder = await testHolder(world.store.database)
    const next = open()
    await recover(next)
    await world.devnet.control.releaseMining()
    await until(async () => (await count(next)) === 2, 'both used')
    expect((await rowsOf(next))[0]?.purpose).toBe('fill')
  })
})

describe('after a reorganisation', () => {
  it('sends a dropped transaction of an idle wallet again, without anybody using the wallet', async () => {
    world.keys = [await fundedWallet()]
    const wallets = open()
    const call = transfer()
    expect(await outcomeOf(await wallets.send(call))).toMatchObject({ status: 'mined' })
    await until(() => allEnded(wallets), 'noted')
    const [row] = await rowsOf(wallets)
    const { control } = world.devnet
    await control.holdMining()
    await control.reorg(1, { drop: [row?.hash as Hex] })
    expect(await isUsed(call.nonce)).toBe(false)
    await control.releaseMining()
    await until(async () => {
      await wallets.recoverWallets()
      return isUsed(call.nonce)
    }, 'landed again')
    expect(await count(wallets)).toBe(1)
  })
})
