import type { Clock } from '../../kernel/clock.ts'
import { ChainUnreadable } from '../chain-port.ts'
import type { Network } from '../network.ts'
import type { Rpc } from '../rpc.ts'

/** What a transaction offers, in wei per gas. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/** What the chain asks for at the moment. */
export type FeeMarket = { baseFeeWei: bigint; suggestedTipWei: bigint }

const larger = (a: bigint, b: bigint) => (a > b ? a : b)
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

export type FeeLimits = Pick<Network, 'priorityFeeWeiMin' | 'priorityFeeWeiMax' | 'maxFeeWeiMax'>

/**
 * Nodes of some networks drop tips below a floor that their own suggestion may undercut, so the floor wins. The ceilings
 * win over everything: a suggestion is one endpoint's word. With a base fee above them the offer cannot be mined, and
 * `feesAreTooHigh` says so.
 */
export function feesFor(network: FeeLimits, market: FeeMarket): Fees {
  const tip = smaller(larger(market.suggestedTipWei, network.priorityFeeWeiMin), network.priorityFeeWeiMax)
  // Twice the base fee outlasts six full blocks in a row.
  return { maxFeePerGas: smaller(market.baseFeeWei * 2n + tip, network.maxFeeWeiMax), maxPriorityFeePerGas: tip }
}

/** True when the chain asks for more than its ceiling allows. */
export function feesAreTooHigh(network: Pick<Network, 'maxFeeWeiMax'>, fees: Fees): boolean {
  return fees.maxFeePerGas >= network.maxFeeWeiMax
}

/** What a transaction costs at most, in micro-USD, rounded up. */
export function costMicroOf(network: Pick<Network, 'nativeUsdMax'>, gasLimit: bigint, fees: Fees): bigint {
  const wei = gasLimit * fees.maxFeePerGas
  return (wei * network.nativeUsdMax * 1_000_000n + 10n ** 18n - 1n) / 10n ** 18n
}

/** Nodes take a replacement only if both fees rise by an eighth (geth asks for a tenth, others for this). */
const raised = (wei: bigint) => (wei * 1_125n + 999n) / 1_000n

/** Undefined when the replacement would be above a ceiling. */
export function bumpFees(network: FeeLimits, previous: Fees, market: Fees): Fees | undefined {
  const tip = larger(raised(previous.maxPriorityFeePerGas), market.maxPriorityFeePerGas)
  const maxFeePerGas = larger(larger(raised(previous.maxFeePerGas), market.maxFeePerGas), tip)
  if (tip > network.priorityFeeWeiMax || maxFeePerGas > network.maxFeeWeiMax) return undefined
  return { maxFeePerGas, maxPriorityFeePerGas: tip }
}

export type FeeSource = { current(): Promise<Fees> }

const freshMs = 2_000
const usableMs = 20_000

/** Fees as read recently. No payment waits for this read except the first after a pause. */
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
