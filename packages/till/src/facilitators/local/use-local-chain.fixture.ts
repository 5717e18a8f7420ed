import type { Address } from '@assay/protocol/address'
import { createWalletClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createRpc, type Network, type RpcEndpoint } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import {
  demoNetwork,
  devnetEndpoint,
  type TestHolder,
  testHolder,
  testPayer,
  testWallets,
} from '../../chain/wallet/wallet.fixture.ts'
import type { SettleOutcome } from '../../contract/facilitator.ts'
import {
  type ContractArtifact,
  contractArtifacts,
  type Devnet,
  demoAccount,
  demoIssuer,
  devnetTransport,
  startDevnet,
} from '../../devnet/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import { createLocalFacilitator, type LocalFacilitator, type LocalFacilitatorOptions } from './local-facilitator.ts'

export const payers = Array.from({ length: 30 }, (_, index) => testPayer(`payer ${index}`))
export const payer = (index: number) => payers[index] as (typeof payers)[number]
export const pauper = testPayer('pauper')

/** One chain and one database for a file; a process with its wallets for each test in it. */
export const world = {} as {
  devnet: Devnet
  store: TestDatabase
  network: Network
  endpoint: RpcEndpoint
  holder: TestHolder
  wallets: SettlementWallets
  /** What the chain was asked, in order. */
  methods: string[]
}

export function useLocalChain(): void {
  beforeAll(async () => {
    world.store = await openTestDatabase()
    const fund = [...payers.map((one) => one.address), demoAccount('stranger').address]
    world.devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, fund })
    world.network = demoNetwork(world.devnet)
    const inner = devnetEndpoint(world.devnet)
    world.endpoint = {
      name: 'counted',
      send: (calls) => {
        world.methods.push(...calls.map((call) => call.method))
        return inner.send(calls)
      },
    }
  })
  afterAll(async () => {
    await world.devnet?.stop()
    await world.store?.close()
  })
  beforeEach(async () => {
    world.methods = []
    world.holder = await testHolder(world.store.database)
    const { network, endpoint, holder } = world
    const limits = { idleMs: 5_000 }
    world.wallets = testWallets({ network, endpoints: [endpoint], database: world.store.database, holder, limits })
  })
  afterEach(async () => {
    world.devnet.control.clearFaults()
    await world.devnet.control.releaseMining()
    await world.wallets.stop()
    await world.holder.die()
  })
}

export function local(overrides: Partial<LocalFacilitatorOptions> = {}): LocalFacilitator {
  const chains = [
    { network: world.network, rpc: createRpc([world.endpoint], { clock: systemClock }), wallets: world.wallets },
  ]
  return createLocalFacilitator({ chains, clock: systemClock, log: silentLog, metrics: silentMetrics, ...overrides })
}

export const alive = () => new AbortController().signal
export const balanceOf = async (address: Address): Promise<bigint> =>
  BigInt(
    (await world.devnet.request('eth_call', [
      { to: world.network.usdc.address, data: `0x70a08231${address.slice(2).padStart(64, '0')}` },
      'latest',
    ])) as string,
  )
export const transactionOf = (outcome: SettleOutcome) =>
  outcome.status === 'submitted' ? outcome.transaction : undefined

export const client = (privateKey = demoAccount('stranger').privateKey) =>
  createWalletClient({
    chain: base,
    transport: devnetTransport(world.devnet),
    account: privateKeyToAccount(privateKey),
  })

export async function deploy(artifact: ContractArtifact, args: readonly unknown[] = []): Promise<Address> {
  const hash = await client().deployContract({ abi: artifact.abi, bytecode: artifact.bytecode, args })
  const receipt = (await world.devnet.request('eth_getTransactionReceipt', [hash])) as { contractAddress: Address }
  return receipt.contractAddress
}

export const usdc = () => ({ address: world.network.usdc.address, abi: contractArtifacts.testUsdc.abi })

export const asIssuer = (functionName: string, args: readonly unknown[] = []) =>
  client(demoIssuer(8453).privateKey).writeContract({ ...usdc(), functionName, args })
