import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Network } from '../../chain/index.ts'
import { aggregate3Call, type MulticallCall, transferCall } from '../../chain/wallet/index.ts'
import type { ExactPayment } from '../exact-payment.ts'
import type { SettleRefusal } from '../revert-reason.ts'
import { unwrapSignature } from './smart-wallet-signature.ts'

/** Gas is bought by limit and paid by use, so limits are generous, yet bounded: a contract payer decides what it burns. */
export type GasLimits = {
  single: bigint
  batchBase: bigint
  batchEach: bigint
  contractPayer: bigint
  deployment: bigint
}

export const defaultGasLimits: GasLimits = {
  single: 150_000n,
  batchBase: 60_000n,
  batchEach: 110_000n,
  contractPayer: 400_000n,
  deployment: 1_200_000n,
}

/** What one payment needs to have called; more than one call where a wallet is deployed on the way. */
export type SettlementPlan = { calls: readonly MulticallCall[]; gasLimit: bigint }

const plainSignatureLength = 2 + 65 * 2

/** Ordinary wallets sign 65 bytes; what signs otherwise is a contract and is never put into a batch. */
export const hasPlainSignature = (payment: ExactPayment): boolean => payment.signature.length === plainSignatureLength

export function planPlain(payment: ExactPayment, gas: GasLimits): SettlementPlan {
  return { calls: [transfer(payment, payment.signature)], gasLimit: gas.single }
}

export function planContract(
  payment: ExactPayment,
  hasCode: boolean,
  factories: ReadonlySet<Address>,
  gas: GasLimits,
): SettlementPlan | SettleRefusal {
  const wrapped = unwrapSignature(payment.signature)
  if (!wrapped) return { calls: [transfer(payment, payment.signature)], gasLimit: gas.contractPayer }
  if (hasCode) return { calls: [transfer(payment, wrapped.signature)], gasLimit: gas.contractPayer }
  if (!factories.has(wrapped.factory))
    return {
      reason: 'eip6492_factory_not_allowed',
      message: 'The wallet is not deployed yet, and its factory is not on the list of this facilitator.',
    }
  const deploy = { target: wrapped.factory, data: wrapped.deployCall }
  return { calls: [deploy, transfer(payment, wrapped.signature)], gasLimit: gas.deployment }
}

function transfer(payment: ExactPayment, signature: Hex): MulticallCall {
  return { target: payment.asset, data: transferCall(payment.authorization, signature) }
}

/** One transaction for all plans: the call itself when there is only one, a multicall otherwise. */
export function joinPlans(
  network: Network,
  plans: readonly SettlementPlan[],
  gas: GasLimits,
): { to: Address; data: Hex; gasLimit: bigint } {
  const calls = plans.flatMap((plan) => plan.calls)
  const only = calls.length === 1 ? calls[0] : undefined
  if (only) return { to: only.target, data: only.data, gasLimit: plans[0]?.gasLimit ?? gas.single }
  const gasLimit =
    plans.length === 1 ? (plans[0]?.gasLimit ?? gas.single) : gas.batchBase + gas.batchEach * BigInt(calls.length)
  return { to: network.multicall3, data: aggregate3Call(calls), gasLimit }
}
