import { parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { DemoAccount } from './accounts.ts'
import { resolveTags } from './block-tags.ts'
import type { ChainState } from './chain-state.ts'
import { changeState, stateMethods } from './change-state.ts'
import type { DevnetControl } from './control.ts'
import { controlMethods } from './control-methods.ts'
import type { Faults } from './faults.ts'
import { feeLevel } from './fees.ts'
import { limitGas } from './limit-gas.ts'
import { pendingNonce } from './mempool.ts'
import type { BlockProducer } from './mine-transactions.ts'
import { chainSeconds, refuseIfBroken } from './produce-block.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'
import { revertSnapshot, takeSnapshot } from './snapshots.ts'
import { submitTransaction } from './submit-transaction.ts'
import { createWalletMethods } from './wallet-methods.ts'
import { wholeNumber } from './whole-number.ts'

export type RpcRequest = (method: string, params?: readonly unknown[]) => Promise<unknown>
type Handler = (params: readonly unknown[]) => Promise<unknown>

// A head older than this gets a new block when somebody looks: both real chains make one every 2 seconds.
const idleSecondsMax = 2

const readable = /^(eth|net|web3|debug)_/
const refused = new Set(['eth_subscribe', 'eth_unsubscribe'])
const readsHead = new Set(['eth_blockNumber', 'eth_call', 'eth_estimateGas', 'eth_feeHistory', 'debug_traceCall'])

/**
 * What somebody's demo chain has beside what every embedded chain has: puts its contracts there each time the chain is
 * opened, and gives the RPC of the chain with its own answers added.
 */
export type ChainExtension = (request: RpcRequest, chainId: number) => Promise<RpcRequest>

export type RpcDeps = {
  state: ChainState
  producer: BlockProducer
  control: DevnetControl
  faults: Faults
  accounts: readonly DemoAccount[]
  extensions: readonly ChainExtension[]
}

/** The chain as its users see it: own methods by table, the rest read from the engine. */
export async function createRpc(deps: RpcDeps): Promise<RpcRequest> {
  const { state, accounts, faults } = deps
  let chain = ownRpc(deps)
  for (const extend of deps.extensions) chain = await extend(chain, state.chainId)
  const wallet = new Map(Object.entries(createWalletMethods(state.chainId, accounts, chain)))
  const handle: RpcRequest = async (method, params = []) => {
    const signing = wallet.get(method)
    return signing ? signing(params) : chain(method, params)
  }
  return (method, params) => faults.apply(method, params, () => handle(method, params))
}

function ownRpc({ state, producer, control }: RpcDeps): RpcRequest {
  const handlers = new Map<string, Handler>(
    Object.entries({ ...ownMethods(state, producer, control), ...controlMethods(control) }),
  )
  return async (method, params = []) => {
    refuseIfBroken(state)
    const own = handlers.get(method)
    if (own !== undefined) return own(params)
    if (stateMethods.has(method)) return changeState(state, method, params)
    if (!readable.test(method) || refused.has(method))
      throw new RpcError(rpcCodes.methodNotFound, `the method ${method.slice(0, 80)} does not exist/is not available`)
    return read(state, producer, method, params)
  }
}

async function read(state: ChainState, producer: BlockProducer, method: string, params: readonly unknown[]) {
  const headWanted = readsHead.has(method) || (method === 'eth_getBlockByNumber' && !String(params[0]).startsWith('0x'))
  if (headWanted && state.mining === 'automatic' && chainSeconds(state) - state.head.timestamp >= idleSecondsMax)
    await producer.keepUp()
  return state.lock.shared(() => {
    return state.engine.call(method, limitGas(method, resolveTags(method, withBlock(method, params), viewOf(state))))
  })
}

function viewOf(state: ChainState) {
  return { headNumber: state.head.number, finalityLagBlocks: state.finalityLagBlocks }
}

// The engine would estimate on top of everything that waits, executing all of it for each estimate.
function withBlock(method: string, params: readonly unknown[]): readonly unknown[] {
  return method === 'eth_estimateGas' && params[1] === undefined ? [params[0], 'latest', ...params.slice(2)] : params
}

function ownMethods(state: ChainState, producer: BlockProducer, control: DevnetControl): Record<string, Handler> {
  const { baseFeeWei, priorityFeeWei } = feeLevel(state.chainId)
  return {
    web3_clientVersion: async () => 'assay-devnet/1.0.0',
    eth_sendRawTransaction: ([raw]) => submitTransaction(state, producer, raw),
    eth_maxPriorityFeePerGas: async () => `0x${priorityFeeWei.toString(16)}`,
    eth_gasPrice: async () => `0x${(baseFeeWei + priorityFeeWei).toString(16)}`,
    eth_getTransactionCount: async ([address, tag = 'latest', ...rest]) => {
      const sender = parseAddress(address)
      if (sender === undefined || tag !== 'pending')
        return read(state, producer, 'eth_getTransactionCount', [address, tag, ...rest])
      return `0x${(await state.lock.shared(() => pendingNonce(state, sender))).toString(16)}`
    },
    evm_mine: async ([timestamp]) => {
      await producer.makeBlock(timestamp === undefined ? undefined : wholeNumber(timestamp))
      return '0x0'
    },
    hardhat_mine: async ([count = 1]) => {
      for (let made = 0; made < Math.min(wholeNumber(count), 10_000); made += 1) await producer.makeBlock()
      return true
    },
    evm_snapshot: () => takeSnapshot(state),
    evm_revert: ([id]) => revertSnapshot(state, String(id)),
    evm_setAutomine: async ([on]) => {
      await (on === false ? control.holdMining() : control.releaseMining())
      return true
    },
    evm_increaseTime: async ([by]) => {
      control.advanceTime(wholeNumber(by))
      return state.clockOffsetSeconds
    },
    evm_setNextBlockTimestamp: async ([timestamp]) => {
      const wanted = wholeNumber(timestamp)
      if (wanted < state.head.timestamp)
        throw new RpcError(
          rpcCodes.invalidParams,
          `the last block is from ${state.head.timestamp}, time never goes back`,
        )
      state.nextTimestamp = wanted
      return wanted
    },
    hardhat_dropTransaction: ([hash]) => control.dropTransaction(hash as Hex),
  }
}
