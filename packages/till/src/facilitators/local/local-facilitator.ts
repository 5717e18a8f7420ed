import type { Address } from '@assay/protocol/address'
import { ChainUnreadable, type Network, type Rpc, RpcRefusal } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import type { Facilitator, FacilitatorPayment, SettleOutcome, VerifyOutcome } from '../../contract/facilitator.ts'
import { type Clock, nowSeconds } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { type ExactPayment, isExact } from '../exact-payment.ts'
import { isCarriedBy, isPermit2, permit2Scheme, sponsoringKey } from '../permit2-payment.ts'
import type { SettleRefusal } from '../revert-reason.ts'
import { createPayerCodes } from './payer-codes.ts'
import { defaultGasLimits, type GasLimits, hasPlainSignature, planContract, planPlain } from './plan-settlement.ts'
import { type SettleGroupDeps, settleGroup } from './settle-group.ts'
import { settlePermit2 } from './settle-permit2.ts'
import { createSettlementQueue, defaultQueueLimits, type QueueLimits } from './settlement-queue.ts'
import { simulateSettlements } from './simulate-settlements.ts'

/** A chain on which this node settles with its own wallets. */
export type LocalChain = { network: Network; rpc: Rpc; wallets: SettlementWallets }

export type LocalFacilitatorOptions = {
  chains: readonly LocalChain[]
  clock: Clock
  log: Log
  metrics: Metrics
  /** ERC-6492 factories that may deploy a payer's wallet at our cost. Empty by default. */
  factories?: readonly Address[]
  gas?: Partial<GasLimits>
  queue?: Partial<QueueLimits>
}

export type LocalFacilitator = Facilitator & {
  readonly name: 'local'
  /** Payments waiting or on their way, all chains. */
  pending(): number
}

type SettlerDeps = Omit<SettleGroupDeps, 'putBack'>

type ChainSettler = LocalChain & {
  settle(payment: ExactPayment, signal: AbortSignal): Promise<SettleOutcome>
  verify(payment: ExactPayment): Promise<VerifyOutcome>
  size(): number
}

/** Settles on our own: simulated first, batched under load, every transaction stored before it is sent. */
export function createLocalFacilitator(options: LocalFacilitatorOptions): LocalFacilitator {
  const settlers = new Map(options.chains.map((chain) => [chain.network.caip2, createSettler(options, chain)]))
  /** The settler that may take this payment, or why nothing is sent. */
  const settlerFor = (payment: FacilitatorPayment): { settler: ChainSettler; exact: ExactPayment } | SettleRefusal => {
    const settler = settlers.get(payment.network)
    if (!settler)
      return {
        reason: 'invalid_network',
        message: `This facilitator does not settle on ${payment.network.slice(0, 40)}.`,
      }
    if (!isExact(payment))
      return { reason: 'unsupported_scheme', message: 'This facilitator settles the scheme exact only.' }
    return refusalBeforeChain(settler.network, payment, options.clock) ?? { settler, exact: payment }
  }
  const settlersOf: Facilitator['settlersOf'] = (scheme, network) => {
    const wallets = scheme === permit2Scheme ? (settlers.get(network)?.wallets.addresses ?? []) : []
    return wallets.length === 0 ? undefined : { wallets, extensions: [sponsoringKey] }
  }
  return {
    name: 'local',
    carries: (payment) =>
      settlers.has(payment.network) &&
      (isPermit2(payment) ? isCarriedBy(payment, settlersOf(permit2Scheme, payment.network)) : isExact(payment)),
    pending: () => [...settlers.values()].reduce((sum, settler) => sum + settler.size(), 0),
    settlersOf,
    async settle(payment, signal) {
      const settler = settlers.get(payment.network)
      if (settler && isPermit2(payment)) return settlePermit2(settler, payment, signal)
      const found = settlerFor(payment)
      return 'settler' in found
        ? found.settler.settle(found.exact, signal)
        : { status: 'refused', payloadSent: false, ...found }
    },
    async verify(payment) {
      const found = settlerFor(payment)
      return 'settler' in found ? found.settler.verify(found.exact) : { status: 'invalid', ...found }
    },
    async supported() {
      const kinds = options.chains.map(({ network }) => ({ x402Version: 2, scheme: 'exact', network: network.caip2 }))
      const signers = [...new Set(options.chains.flatMap(({ wallets }) => wallets.addresses))]
      return { kinds, signers: { 'eip155:*': signers } }
    },
  }
}

function createSettler(options: LocalFacilitatorOptions, { network, rpc, wallets }: LocalChain): ChainSettler {
  const deps: SettlerDeps = {
    network,
    rpc,
    wallets,
    clock: options.clock,
    log: options.log,
    metrics: options.metrics,
    gas: { ...defaultGasLimits, ...options.gas },
    factories: new Set(options.factories),
    payerCodes: createPayerCodes(options.clock),
  }
  const queue = createSettlementQueue({
    clock: options.clock,
    limits: { ...defaultQueueLimits, ...options.queue },
    concurrency: wallets.capacity,
    settleGroup: (group, putBack) => settleGroup({ ...deps, putBack }, group),
  })
  return {
    ...{ network, rpc, wallets },
    size: queue.size,
    settle: queue.submit,
    verify: (payment) => verifyByPlaying(deps, payment),
  }
}

/**
 * Checks that need no read of the chain. The terms are our own or were checked by the caller; the authorization must
 * match them.
 */
function refusalBeforeChain(network: Network, payment: ExactPayment, clock: Clock): SettleRefusal | undefined {
  const { authorization } = payment
  const now = BigInt(nowSeconds(clock))
  const asset = [network.usdc, ...(network.dollars ?? [])].find(({ address }) => address === payment.asset)
  if (!asset || asset.eip3009 === false)
    return { reason: 'invalid_payment_requirements', message: 'Only the dollars of this network are settled here.' }
  if (authorization.to !== payment.payTo)
    return { reason: 'invalid_exact_evm_payload_recipient_mismatch', message: 'The authorization pays somebody else.' }
  if (authorization.value !== payment.amountMicro)
    return {
      reason: 'invalid_exact_evm_payload_authorization_value_mismatch',
      message: 'The authorization is for another amount.',
    }
  if (authorization.validAfter > now)
    return {
      reason: 'invalid_exact_evm_payload_authorization_valid_after',
      message: 'The authorization is not valid yet.',
    }
  // Less than three blocks would be a gamble with our gas.
  if (authorization.validBefore < now + BigInt(network.blockSecondsTypical * 3))
    return {
      reason: 'invalid_exact_evm_payload_authorization_valid_before',
      message: 'The authorization runs out too soon.',
    }
  return undefined
}

async function verifyByPlaying(deps: SettlerDeps, payment: ExactPayment): Promise<VerifyOutcome> {
  try {
    const plan = hasPlainSignature(payment) ? planPlain(payment, deps.gas) : await planForContract(deps, payment)
    if (!('calls' in plan)) return { status: 'invalid', ...plan }
    const sender = deps.wallets.addresses[0] as Address
    const { verdicts } = await simulateSettlements({ ...deps, sender }, [plan])
    const verdict = verdicts[0]
    if (verdict?.status === 'passes') return { status: 'valid' }
    return verdict
      ? { status: 'invalid', reason: verdict.reason, message: verdict.message }
      : { status: 'could_not_check', reason: 'no verdict' }
  } catch (error) {
    if (error instanceof ChainUnreadable || error instanceof RpcRefusal)
      return { status: 'could_not_check', reason: error.message }
    throw error
  }
}

async function planForContract(deps: SettlerDeps, payment: ExactPayment) {
  const code = await deps.rpc.first('eth_getCode', [payment.authorization.from, 'latest'])
  return planContract(payment, code !== '0x', deps.factories, deps.gas)
}
