import type { Clock } from '../../kernel/clock.ts'
import { ChainUnreadable } from '../chain-port.ts'
import type { Network } from '../network.ts'
import type { Rpc } from '../rpc.ts'

/** What a transaction offers, in wei per gas. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/** What the chain asks for at the moment. */
export type FeeMarket = { baseFeeWei: bigint; suggestedTipWei: bigint }

const larger = (a: bigint, b: bigint) => (a > b ? a : b)

/** Nodes of some networks drop tips below a floor that their own suggestion may undercut, so the floor wins. */
export function feesFor(network: Pick<Network, 'priorityFeeWeiMin'>, market: FeeMarket): Fees {
  const tip = larger(market.suggestedTipWei, network.priorityFeeWeiMin)
  // Twice the base fee outlasts six full blocks in a row.
  return { maxFeePerGas: market.baseFeeWei * 2n + tip, maxPriorityFeePerGas: tip }
}

/** Nodes take a replacement only if both fees rise by an eighth (geth asks for a tenth, others for this). */
const raised = (wei: bigint) => (wei * 1_125n + 999n) / 1_000n

export function bumpFees(previous: Fees, market: Fees): Fees {
  const tip = larger(raised(previous.maxPriorityFeePerGas), market.maxPriorityFeePerGas)
  return {
    maxFeePerGas: larger(larger(raised(previous.maxFeePerGas), market.maxFeePerGas), tip),
    maxPriorityFeePerGas: tip,
  }
}

export type FeeSource = { current(): Promise<Fees> }

const freshMs = 2_000
const usableMs = 20_000

/** Fees as read a moment ago. No payment waits for this read except the first after a pause. */
export function createFeeSource(network: Network, rpc: Rpc, clock: Clock): FeeSource {
  let known: { fees: Fees; atMs: number } | undefined
  let reading: Promise<Fees> | undefined

  const read = (): Promise<Fees> => {
    reading ??= readMarket(rpc)
      .then((market) => {
        known = { fees: feesFor(network, market), atMs: clock.monotonicMs() }
        return known.fees
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return {
    async current() {
      const ageMs = known ? clock.monotonicMs() - known.atMs : Number.POSITIVE_INFINITY
      if (known && ageMs < freshMs) return known.fees
      if (known && ageMs < usableMs) {
        read().catch(() => {})
        return known.fees
      }
      return read()
    },
  }
}

async function readMarket(rpc: Rpc): Promise<FeeMarket> {
  const [block, tip] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ])
  const baseFee = (block as { baseFeePerGas?: string } | null)?.baseFeePerGas
  if (typeof baseFee !== 'string' || typeof tip !== 'string') throw new ChainUnreadable('the fees could not be read')
  return { baseFeeWei: BigInt(baseFee), suggestedTipWei: BigInt(tip) }
}
