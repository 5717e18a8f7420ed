import { RpcError, rpcCodes } from './rpc-error.ts'

/** Where each method carries its block: a position, or the range of a log filter. */
const tagPosition: Record<string, number> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_feeHistory: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getCode: 1,
  eth_getProof: 2,
  eth_getStorageAt: 2,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getTransactionCount: 1,
  debug_traceCall: 1,
}
const filterMethods = new Set(['eth_getLogs', 'eth_newFilter'])

export type FinalityView = { headNumber: number; finalityLagBlocks: number }

/** The engine knows no finality, so `safe` and `finalized` become the number of the block that has it. */
export function resolveTags(method: string, params: readonly unknown[], view: FinalityView): readonly unknown[] {
  if (filterMethods.has(method)) {
    const [filter, ...rest] = params
    if (typeof filter !== 'object' || filter === null) return params
    const { fromBlock, toBlock } = filter as { fromBlock?: unknown; toBlock?: unknown }
    if (!isFinalityTag(fromBlock) && !isFinalityTag(toBlock)) return params
    return [{ ...filter, ...range('fromBlock', fromBlock, view), ...range('toBlock', toBlock, view) }, ...rest]
  }
  const position = tagPosition[method]
  if (position === undefined || !isFinalityTag(params[position])) return params
  return params.with(position, finalBlock(view))
}

function range(name: 'fromBlock' | 'toBlock', tag: unknown, view: FinalityView): Record<string, unknown> {
  if (tag === undefined) return {}
  return { [name]: isFinalityTag(tag) ? finalBlock(view) : tag }
}

function isFinalityTag(tag: unknown): boolean {
  return tag === 'safe' || tag === 'finalized'
}

function finalBlock({ headNumber, finalityLagBlocks }: FinalityView): string {
  const number = headNumber - finalityLagBlocks
  // A public node says so too while nothing is final yet.
  if (number < 0) throw new RpcError(rpcCodes.server, 'finalized block not found')
  return `0x${number.toString(16)}`
}
