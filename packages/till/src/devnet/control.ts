import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { demoIssuer, demoUsdcAddress } from './accounts.ts'
import { contractArtifacts } from './artifacts.ts'
import type { ChainState } from './chain-state.ts'
import { changeState } from './change-state.ts'
import type { Faults, RpcFault } from './faults.ts'
import { feeLevel } from './fees.ts'
import { dropTransaction, pendingNonce } from './mempool.ts'
import type { BlockProducer } from './mine-transactions.ts'
import { type ReorgOptions, type ReorgResult, reorganize } from './reorganize.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'
import { submitTransaction } from './submit-transaction.ts'

/** Everything a test may do to a chain that a user may not. Also callable as `devnet_*` over JSON-RPC. */
export type DevnetControl = {
  /** Replaces the last `depth` blocks by others with different hashes. */
  reorg(depth: number, options?: ReorgOptions): Promise<ReorgResult>
  /** From now on transactions are taken, but stay pending until `mine` or `releaseMining`. */
  holdMining(): Promise<void>
  /** Back to a block per transaction; what waits is included now. */
  releaseMining(): Promise<void>
  mine(blocks?: number): Promise<void>
  /** Drops a pending transaction. False if it is not pending. */
  dropTransaction(hash: Hex): Promise<boolean>
  /** `safe` and `finalized` stay this many blocks behind `latest`; 0 by default. */
  setFinalityLag(blocks: number): void
  /** Moves chain time ahead of the clock. */
  advanceTime(seconds: number): void
  failNext(method: string, fault?: RpcFault): void
  setLatency(ms: number, method?: string): void
  clearFaults(): void
  /** Funds any address with gas and test USDC. */
  fund(address: Address, amounts?: { wei?: bigint | Hex; microUsdc?: bigint | Hex }): Promise<void>
  head(): { number: number; hash: Hex; timestamp: number }
}

export function createControl(state: ChainState, producer: BlockProducer, faults: Faults): DevnetControl {
  let lastFunding: Promise<unknown> = Promise.resolve()
  return {
    reorg: (depth, options) => reorganize(state, depth, options),
    holdMining: () =>
      state.lock.exclusive(async () => {
        state.mining = 'held'
      }),
    releaseMining: async () => {
      state.mining = 'automatic'
      await producer.drain()
    },
    mine: async (blocks = 1) => {
      for (let made = 0; made < blocks; made += 1) await producer.makeBlock()
    },
    dropTransaction: (hash) => dropTransaction(state, hash),
    setFinalityLag: (blocks) => {
      state.finalityLagBlocks = blocks
    },
    advanceTime: (seconds) => {
      state.clockOffsetSeconds += seconds
    },
    failNext: faults.failNext,
    setLatency: faults.setLatency,
    clearFaults: faults.clear,
    fund: async (address, { wei = 10n ** 21n, microUsdc = 10n ** 12n } = {}) => {
      await changeState(state, 'hardhat_setBalance', [address, `0x${BigInt(wei).toString(16)}`])
      if (BigInt(microUsdc) === 0n) return
      // Choosing the nonce and sending are one step, or two fundings at once would take the same one.
      const sent = lastFunding.then(() => sendMint(state, producer, address, BigInt(microUsdc)))
      lastFunding = sent.catch(() => {})
      await sent
    },
    head: () => ({ ...state.head }),
  }
}

async function sendMint(state: ChainState, producer: BlockProducer, to: Address, amount: bigint): Promise<void> {
  const issuer = demoIssuer(state.chainId)
  const fees = feeLevel(state.chainId)
  const nonce = await state.lock.shared(() => pendingNonce(state, issuer.address))
  const raw = await privateKeyToAccount(issuer.privateKey).signTransaction({
    type: 'eip1559',
    chainId: state.chainId,
    to: demoUsdcAddress(state.chainId),
    nonce,
    gas: 200_000n,
    maxFeePerGas: fees.baseFeeWei * 2n + fees.priorityFeeWei,
    maxPriorityFeePerGas: fees.priorityFeeWei,
    data: encodeFunctionData({ abi: contractArtifacts.testUsdc.abi, functionName: 'mint', args: [to, amount] }),
  })
  const hash = await submitTransaction(state, producer, raw)
  const receipt = (await state.lock.shared(() => state.engine.call('eth_getTransactionReceipt', [hash]))) as {
    status: Hex
  } | null
  if (receipt !== null && receipt.status !== '0x1') throw new RpcError(rpcCodes.server, `minting to ${to} failed`)
}
