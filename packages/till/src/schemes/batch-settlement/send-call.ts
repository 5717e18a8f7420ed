import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { channelContract } from '@assay/protocol/typed-data/channel'
import { ChainUnreadable, isRevert } from '../../chain/index.ts'
import { type ChannelDeps, chainOf } from './channel-deps.ts'

export type Simulated = { status: 'passes' } | { status: 'fails'; message: string } | { status: 'could_not_read' }

/** As enough operators see it: by one alone neither a buyer is turned away nor a claim given up. */
export async function simulate(deps: ChannelDeps, network: string, from: Address, data: Hex): Promise<Simulated> {
  try {
    const { rpc } = chainOf(deps, network)
    const answer = await rpc.agreed('eth_call', [{ from, to: channelContract, data }, 'latest'])
    return answer === undefined ? { status: 'could_not_read' } : { status: 'passes' }
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return isRevert(error) ? { status: 'fails', message: error.message.slice(0, 200) } : { status: 'could_not_read' }
  }
}

/** The first of several ways to do the same that would work now. */
export async function firstPassing(
  deps: ChannelDeps,
  network: string,
  from: Address,
  ways: readonly Hex[],
): Promise<{ status: 'passes'; data: Hex } | Exclude<Simulated, { status: 'passes' }>> {
  let last: Simulated = { status: 'fails', message: 'nothing to do' }
  for (const data of ways) {
    last = await simulate(deps, network, from, data)
    if (last.status === 'passes') return { status: 'passes', data }
    if (last.status === 'could_not_read') return last
  }
  return last as Exclude<Simulated, { status: 'passes' }>
}

export type Outgoing = {
  network: string
  /** The only wallet of ours that may send it; any where absent. */
  from?: Address
  data: Hex
  gasLimit: bigint
  purpose: string
  reference: string
  usefulUntil?: number
  /** False: it is not sent any more. */
  stillWanted?(): boolean
}

export type Sent =
  | { status: 'done'; transaction: Hex; blockNumber: bigint }
  /** In a block and without effect. */
  | { status: 'reverted'; transaction: Hex }
  /** Nothing left this process, or it can never happen any more. */
  | { status: 'not_sent'; reason: string }
  | { status: 'unknown'; transaction: Hex }

/** Sends one call to the contract and waits for its block; the gas is posted. */
export async function sendCall(deps: ChannelDeps, out: Outgoing): Promise<Sent> {
  const { wallets, seen } = chainOf(deps, out.network)
  const sent = await wallets.send({
    ...{ to: channelContract, data: out.data, gasLimit: out.gasLimit, purpose: out.purpose },
    references: [out.reference],
    ...(out.from === undefined ? {} : { from: out.from }),
    ...(out.usefulUntil === undefined ? {} : { usefulUntil: out.usefulUntil }),
    stillWanted: out.stillWanted ?? (() => true),
  })
  if (sent.status === 'not_sent') return { status: 'not_sent', reason: sent.message ?? sent.reason }
  const over = new AbortController()
  const late = deps.clock.sleep(deps.settleMs, over.signal).then(
    () => ({ status: 'stopped' as const }),
    () => ({ status: 'stopped' as const }),
  )
  const outcome = await Promise.race([sent.outcome, late])
  over.abort()
  if (outcome.status === 'stopped') return { status: 'unknown', transaction: sent.transaction }
  if (outcome.status === 'replaced') return { status: 'not_sent', reason: outcome.detail }
  const { receipt } = outcome
  if (receipt.status !== '0x1') return { status: 'reverted', transaction: receipt.transactionHash }
  const blockNumber = BigInt(receipt.blockNumber)
  if (blockNumber > seen.block) seen.block = blockNumber
  return { status: 'done', transaction: receipt.transactionHash, blockNumber }
}
