import type { Address } from '@assay/protocol/address'
import { ChainUnreadable, isRevert, type Network, type Rpc, type RpcCall, type RpcRefusal } from '../../chain/index.ts'
import { aggregate3Call, readAggregate3 } from '../../chain/wallet/index.ts'
import { explainRevert, type SettleRefusal } from '../revert-reason.ts'
import { type GasLimits, joinPlans, type SettlementPlan } from './plan-settlement.ts'

export type Verdict = { status: 'passes' } | ({ status: 'fails' } & SettleRefusal)

export type SimulationDeps = { network: Network; rpc: Rpc; gas: GasLimits; sender: Address }

/**
 * Plays the transaction against the newest block before it costs anything: one call for all plans, one verdict each.
 * `alongside` rides in the same round trip. Throws ChainUnreadable when there is no verdict to be had.
 */
export async function simulateSettlements(
  deps: SimulationDeps,
  plans: readonly SettlementPlan[],
  alongside: readonly RpcCall[] = [],
): Promise<{ verdicts: Verdict[]; answers: unknown[] }> {
  try {
    const [outcome, ...answers] = await deps.rpc.batch([simulation(deps, plans), ...alongside])
    const verdicts = readVerdicts(plans, outcome)
    if (verdicts?.every(({ status }) => status === 'passes')) return { verdicts, answers }
    return { verdicts: await confirmed(deps, plans, verdicts), answers }
  } catch (error) {
    if (!isRevert(error)) throw error
    const answers = alongside.length > 0 ? await deps.rpc.batch(alongside) : []
    if (plans.length === 1) return { verdicts: await confirmedRefusal(deps, plans, error), answers }
    // One of them breaks the whole call: the halves show which.
    const middle = plans.length >> 1
    const first = await simulateSettlements(deps, plans.slice(0, middle))
    const second = await simulateSettlements(deps, plans.slice(middle))
    return { verdicts: [...first.verdicts, ...second.verdicts], answers }
  }
}

/** One endpoint is enough to go on with; turning a payment away takes enough of them that agree. */
async function confirmed(
  deps: SimulationDeps,
  plans: readonly SettlementPlan[],
  first: Verdict[] | undefined,
): Promise<Verdict[]> {
  const { method, params } = simulation(deps, plans)
  const verdicts = deps.rpc.quorum === 1 ? first : readVerdicts(plans, await deps.rpc.agreed(method, params))
  if (!verdicts) throw new ChainUnreadable('the simulation gave no readable answer')
  return verdicts
}

/** Some refuse the call as a whole instead of an answer: as much a verdict, and believed from as many. */
async function confirmedRefusal(
  deps: SimulationDeps,
  plans: readonly SettlementPlan[],
  first: RpcRefusal,
): Promise<Verdict[]> {
  if (deps.rpc.quorum === 1) return [failed(first)]
  try {
    return await confirmed(deps, plans, undefined)
  } catch (error) {
    if (isRevert(error)) return [failed(error)]
    throw error
  }
}

/** Always through the multicall, which reports failures as results where a plain call would be an error of the node. */
function simulation(deps: SimulationDeps, plans: readonly SettlementPlan[]): RpcCall {
  const { gasLimit } = joinPlans(deps.network, plans, deps.gas)
  const data = aggregate3Call(plans.flatMap((plan) => plan.calls))
  const gas = `0x${(gasLimit + deps.gas.batchBase).toString(16)}`
  return { method: 'eth_call', params: [{ from: deps.sender, to: deps.network.multicall3, data, gas }, 'latest'] }
}

function readVerdicts(plans: readonly SettlementPlan[], outcome: unknown): Verdict[] | undefined {
  const count = plans.reduce((sum, plan) => sum + plan.calls.length, 0)
  const results = readAggregate3(outcome, count)
  if (!results) return undefined
  let at = 0
  return plans.map((plan) => {
    const mine = results.slice(at, at + plan.calls.length)
    at += plan.calls.length
    const transfer = mine.at(-1)
    if (transfer?.success) return { status: 'passes' }
    if (mine.length > 1 && mine[0]?.success === false)
      return { status: 'fails', reason: 'smart_wallet_deployment_failed', message: 'The wallet could not be deployed.' }
    return { status: 'fails', ...explainRevert(transfer?.returnData ?? '0x') }
  })
}

const failed = (error: RpcRefusal): Verdict => ({
  status: 'fails',
  reason: 'invalid_exact_evm_transaction_simulation_failed',
  message: `The transfer would fail: ${error.message.replace(/[^\x20-\x7e]/g, '?').slice(0, 120)}`,
})
