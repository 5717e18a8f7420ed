import type { Hex } from '@assay/protocol/bytes'
import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  OSAKA,
  type Provider,
} from '@nomicfoundation/edr'
import { fromHex } from '../kernel/bytes.ts'
import type { ChainGenesis } from './history.ts'
import { fromEngineError } from './rpc-error.ts'

/** One EVM chain in this process. The only file that knows EDR, whose raw interface is internal to Hardhat. */
export type Engine = {
  call(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Runs the calls in order in one crossing into native code; fails as a whole at the first error. */
  batch(calls: readonly EngineCall[]): Promise<unknown[]>
}

export type EngineCall = { method: string; params: readonly unknown[] }

let sharedContext: Promise<EdrContext> | undefined

// EDR allows one context per process, however many chains live in it.
function context(): Promise<EdrContext> {
  sharedContext ??= (async () => {
    const created = new EdrContext()
    await created.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory())
    return created
  })()
  return sharedContext
}

export async function createEngine(genesis: ChainGenesis): Promise<Engine> {
  const provider = await (await context()).createProvider(
    L1_CHAIN_TYPE,
    providerConfig(genesis),
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  )
  // The engine works on one request at a time anyway; handing it several makes its threads fight over the lock.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (request: unknown): Promise<unknown> => {
    const answer = last.then(() => run(provider, request))
    last = answer.catch(() => {})
    return answer
  }
  return {
    call: (method, params = []) => inTurn({ jsonrpc: '2.0', id: 1, method, params }),
    batch: async (calls) => {
      const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
      return (await inTurn(requests)) as unknown[]
    },
  }
}

function providerConfig(genesis: ChainGenesis) {
  const blockGasLimit = BigInt(genesis.blockGasLimit)
  return {
    // Otherwise every block adds a second and a busy chain runs ahead of the clock.
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    // A base fee that hardly moves: the cost of a settlement does not depend on how many came before.
    baseFeeConfig: [
      { activation: { blockNumber: 0n }, maxChangeDenominator: 1_000_000_000_000_000n, elasticityMultiplier: 2n },
    ],
    chainId: BigInt(genesis.chainId),
    coinbase: fromHex(genesis.coinbase),
    defaultTransactionGasLimit: blockGasLimit,
    genesisState: [
      ...l1GenesisState(l1HardforkFromString(OSAKA)),
      ...genesis.accounts.map(({ address, balance, code }) => ({
        address: fromHex(address),
        balance: BigInt(balance),
        ...(code === undefined ? {} : { code: fromHex(code) }),
      })),
    ],
    hardfork: OSAKA,
    initialBaseFeePerGas: BigInt(genesis.baseFeeWei),
    minGasPrice: 0n,
    // Blocks are made by our own producer, so that they can be journalled before anybody sees them.
    mining: { autoMine: false, blockGasLimit, memPool: { order: MineOrdering.Fifo } },
    network: { genesisBlockGasLimit: blockGasLimit, genesisBlockTime: BigInt(genesis.timestamp) },
    networkId: BigInt(genesis.chainId),
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
    transactionGasCap: false as const,
  }
}

type EngineResponse = { result?: unknown; error?: { code: number; message: string; data?: unknown } }

async function run(provider: Provider, request: unknown): Promise<unknown> {
  const { data } = await provider.handleRequest(JSON.stringify(request))
  const response = (typeof data === 'string' ? JSON.parse(data) : data) as EngineResponse
  if (response.error) throw fromEngineError(response.error)
  return response.result
}

/** Reads a hex quantity the engine answered. */
export function quantity(value: unknown): number {
  return Number(BigInt(value as Hex))
}
