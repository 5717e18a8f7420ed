import type { Hex } from '@assay/protocol/bytes'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Devnet, startDevnet } from '../../devnet/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import type { Network } from '../network.ts'
import type { RpcEndpoint } from '../rpc.ts'
import { transferCall } from './authorization-calls.ts'
import type { OutgoingCall, SendResult } from './leased-wallet-state.ts'
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

export const shop = testKey('shop').address
const payer = testPayer('payer')

/** One chain and one database for a file; a process and its own wallet for each test in it. */
export const world = {} as {
  devnet: Devnet
  store: TestDatabase
  network: Network
  endpoint: RpcEndpoint
  holder: TestHolder
  keys: Hex[]
}

let walletNumber = 0
const running: SettlementWallets[] = []

export function useWallets(): void {
  beforeAll(async () => {
    world.store = await openTestDatabase()
    world.devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, fund: [payer.address] })
    world.network = demoNetwork(world.devnet)
    world.endpoint = devnetEndpoint(world.devnet)
  })
  afterAll(async () => {
    await world.devnet?.stop()
    await world.store?.close()
  })
  beforeEach(async () => {
    world.holder = await testHolder(world.store.database)
    world.keys = [await fundedWallet()]
  })
  afterEach(async () => {
    world.devnet.control.clearFaults()
    await world.devnet.control.releaseMining()
    await Promise.all(running.splice(0).map((wallets) => wallets.stop()))
    await world.holder.die()
  })
}

export async function fundedWallet(): Promise<Hex> {
  walletNumber += 1
  const { privateKey, address } = testKey(`wallet ${walletNumber}`)
  await world.devnet.control.fund(address, { microUsdc: 0n })
  return privateKey
}

export function open(overrides: Partial<Parameters<typeof testWallets>[0]> = {}): SettlementWallets {
  const wallets = testWallets({ ...world, endpoints: [world.endpoint], database: world.store.database, ...overrides })
  running.push(wallets)
  return wallets
}

export function transfer(overrides: Partial<OutgoingCall> = {}): OutgoingCall & { nonce: Hex } {
  const { authorization, signature } = payer.authorize(world.network, { to: shop })
  return {
    purpose: 'settle',
    references: ['pay_1'],
    to: world.network.usdc.address,
    data: transferCall(authorization, signature),
    gasLimit: 150_000n,
    stillWanted: () => true,
    nonce: authorization.nonce,
    ...overrides,
  }
}

export const isUsed = async (nonce: Hex): Promise<boolean> =>
  BigInt(
    (await world.devnet.request('eth_call', [
      {
        to: world.network.usdc.address,
        data: `0xe94a0102${payer.address.slice(2).padStart(64, '0')}${nonce.slice(2)}`,
      },
      'latest',
    ])) as string,
  ) === 1n

export const count = async (wallets: SettlementWallets, tag = 'latest'): Promise<number> =>
  Number(await world.devnet.request('eth_getTransactionCount', [wallets.addresses[0], tag]))

export async function outcomeOf(result: SendResult) {
  if (result.status !== 'sent') throw new Error(`${result.reason}: ${result.message}`)
  return result.outcome
}

export async function rowsOf(wallets: SettlementWallets) {
  const { rows } = await world.store.database.query<{
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

export async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let round = 0; round < 1_200; round += 1) {
    if (await condition()) return
    await systemClock.sleep(25)
  }
  throw new Error(`not reached: ${what}`)
}

export const allEnded = async (wallets: SettlementWallets) =>
  (await rowsOf(wallets)).every((row) => row.state === 'mined' || row.state === 'superseded')

/** The server notices the end of a connection a moment after it ended. */
export const recover = (wallets: SettlementWallets) =>
  until(
    async () => (await wallets.recoverWallets()).every(({ status }) => status === 'clean' || status === 'taken_over'),
    'taken over',
  )
