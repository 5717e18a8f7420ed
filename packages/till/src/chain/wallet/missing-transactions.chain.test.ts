import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { systemRng } from '../../kernel/random.ts'
import type { Database } from '../../store/database.ts'
import { detectRestore } from '../../store/detect-restore.ts'
import { choosePlace } from '../../store/embedded/place.ts'
import { ensureInstance } from '../../store/instance.ts'
import { openStore } from '../../store/open-store.ts'
import { isRestoring, markReconciled } from '../../store/restore.ts'
import { scratchFolder } from '../../store/testing.ts'
import { createRpc } from '../create-rpc.ts'
import { createMissingTransactionCheck } from './missing-transactions.ts'
import { open, outcomeOf, transfer, useWallets, world } from './use-wallets.fixture.ts'
import { testHolder, testWallets } from './wallet.fixture.ts'
import { createWalletKey } from './wallet-key.ts'

useWallets()

const base = 'eip155:8453'
const run = promisify(execFile)

/** A process: what it remembers ends with it. */
function openProcess(database: Database, home: string, { clock = systemClock, keys = world.keys } = {}) {
  const alarms: string[] = []
  const metrics = {
    count: (_name: string, labels?: Record<string, string>) => void alarms.push(labels?.['alarm'] ?? ''),
    gauge: () => {},
    observeMs: () => {},
  }
  const missingTransactions = createMissingTransactionCheck({
    database,
    clock,
    log: silentLog,
    metrics,
    rpcs: new Map([[base, createRpc([world.endpoint], { clock: systemClock })]]),
    wallets: keys.map((key) => createWalletKey(key).address),
  })
  const heads = async () => new Map([[base, 1_000n]])
  return {
    alarms,
    detect: () =>
      detectRestore({ database, home, clock: systemClock, log: silentLog, metrics, heads, missingTransactions }),
  }
}

async function settle(database: Database, times: number): Promise<void> {
  const holder = await testHolder(database)
  const wallets = testWallets({ ...world, endpoints: [world.endpoint], database, holder })
  for (let n = 0; n < times; n += 1)
    expect(await outcomeOf(await wallets.send(transfer()))).toMatchObject({ status: 'mined' })
  await wallets.stop()
  await holder.die()
}

test('a whole data folder put back after settlements is noticed by the transactions it does not know', async () => {
  const folder = await mkdtemp(join(await scratchFolder(), 'assay-folder-'))
  // The account that runs the server for root must be able to pass through.
  await chmod(folder, 0o711)
  const home = join(folder, 'home')
  const copy = join(folder, 'copy')
  const ports = { clock: systemClock, log: silentLog, rng: systemRng }
  const place = await choosePlace(home, systemRng)
  try {
    const first = await openStore({ home, ...ports })
    await ensureInstance(first.database, { mode: 'demo', chains: [], assets: {}, payees: {}, keyId: 'key' })
    expect(await openProcess(first.database, home).detect()).toBeUndefined()
    await settle(first.database, 1)
    await first.stop()
    await run('cp', ['-a', place.folder, copy])

    const second = await openStore({ home, ...ports })
    expect(await openProcess(second.database, home).detect()).toBeUndefined()
    await settle(second.database, 2)
    await second.stop()
    await rm(place.folder, { recursive: true })
    await run('cp', ['-a', copy, place.folder])
    // The position noted beside the data goes back with it.
    await rm(join(home, 'database-position.json'), { force: true })

    const third = await openStore({ home, ...ports })
    try {
      expect(await openProcess(third.database, home).detect()).toContain('lost transactions')
      expect(await isRestoring(third.database, base)).toBe(true)
      // Once: what is accounted for is no sign of another restore.
      await markReconciled(third.database, base, 1_000n)
      expect(await openProcess(third.database, home).detect()).toBeUndefined()
      await settle(third.database, 1)
      expect(await openProcess(third.database, home).detect()).toBeUndefined()
      expect(await isRestoring(third.database, base)).toBe(false)
    } finally {
      await third.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await rm(place.folder, { recursive: true, force: true })
  }
}, 180_000)

test('a wallet with its own history, and one that somebody else uses meanwhile, are no restore', async () => {
  const { database } = world.store
  await ensureInstance(database, { mode: 'demo', chains: [], assets: {}, payees: {}, keyId: 'key' })
  const home = await mkdtemp(join(await scratchFolder(), 'assay-home-'))
  let minutes = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + minutes * 60_000 }
  // By hand: nothing of it is in these books.
  const byHand = async () => {
    await outcomeOf(await open().send(transfer()))
    await world.store.owner.query(`delete from settlement_transaction where wallet = $1`, [
      createWalletKey(world.keys[0] as `0x${string}`).address,
    ])
  }
  try {
    await byHand()
    const node = openProcess(database, home, { clock })
    expect(await node.detect()).toBeUndefined()
    await byHand()
    minutes = 10
    expect(await node.detect()).toBeUndefined()
    expect(node.alarms).toEqual(['wallet_used_elsewhere'])
    expect(await openProcess(database, home).detect()).toBeUndefined()

    // Rows that a running process has read are gone: the books went back under it.
    await outcomeOf(await open().send(transfer()))
    expect(await node.detect()).toBeUndefined()
    await world.store.owner.query('delete from settlement_transaction')
    expect(await node.detect()).toContain('lost transactions')
    expect(await isRestoring(database, base)).toBe(true)
    expect(await node.detect()).toBeUndefined()
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
