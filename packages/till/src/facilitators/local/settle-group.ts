import type { Address } from '@assay/protocol/address'
import { ChainUnreadable, type Network, type Rpc } from '../../chain/index.ts'
import {
  authorizationKey,
  type SettlementWallets,
  type TransactionOutcome,
  usedAuthorizations,
} from '../../chain/wallet/index.ts'
import { type Clock, nowSeconds } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { SettleRefusal } from '../revert-reason.ts'
import type { PayerCodes } from './payer-codes.ts'
import { type GasLimits, joinPlans, planContract, planPlain, type SettlementPlan } from './plan-settlement.ts'
import type { QueuedPayment } from './settlement-queue.ts'
import { simulateSettlements, type Verdict } from './simulate-settlements.ts'

export type SettleGroupDeps = {
  network: Network
  rpc: Rpc
  wallets: SettlementWallets
  clock: Clock
  log: Log
  metrics: Metrics
  gas: GasLimits
  factories: ReadonlySet<Address>
  payerCodes: PayerCodes
  putBack(item: QueuedPayment): void
}

type Planned = { item: QueuedPayment; plan: SettlementPlan }

/** Simulates, sends what passes in one transaction, and tells every payment its own outcome. Never throws. */
export async function settleGroup(deps: SettleGroupDeps, group: readonly QueuedPayment[]): Promise<void> {
  const open = new Set(group)
  const end = (item: QueuedPayment, refusal: SettleRefusal) => {
    open.delete(item)
    refuse(item, refusal)
  }
  try {
    const passing = await selectPassing(deps, group, (item, what) => {
      if (what !== 'put_back') return end(item, what)
      open.delete(item)
      item.alone = true
      deps.putBack(item)
    })
    // Anyone who gave up meanwhile is not sent any more.
    const wanted = passing.filter(({ item }) => !item.signal.aborted)
    if (wanted.length > 0) await sendTogether(deps, wanted)
  } catch (error) {
    if (!(error instanceof ChainUnreadable))
      deps.log.error({ error: String(error) }, 'a group of payments could not be settled')
    // Only what comes before the send can throw, so nothing has left.
    for (const item of open) refuse(item, unavailable(error instanceof Error ? error.message : String(error)))
  }
}

const unavailable = (message: string): SettleRefusal => ({
  reason: 'facilitator_unavailable',
  message: message.slice(0, 200),
})

function refuse(item: QueuedPayment, { reason, message }: SettleRefusal): void {
  // Once in a transaction, the authorization is public whatever became of that transaction.
  const payloadSent = item.transaction !== undefined
  item.finish({ status: 'refused', reason, message, payloadSent, gasGwei: item.gasGwei })
}

type SetAside = (item: QueuedPayment, what: SettleRefusal | 'put_back') => void

async function selectPassing(
  deps: SettleGroupDeps,
  group: readonly QueuedPayment[],
  setAside: SetAside,
): Promise<Planned[]> {
  const planned = await planGroup(deps, group, setAside)
  if (planned.length === 0) return []
  const strangers = planned.filter(
    ({ item }) => !item.alone && !deps.payerCodes.isKnownPlain(item.payment.authorization.from),
  )
  const { verdicts, answers } = await simulateSettlements(
    simulator(deps),
    planned.map(({ plan }) => plan),
    strangers.map(({ item }) => codeOf(item)),
  )
  const contracts = new Set(
    strangers.filter(({ item }, index) => deps.payerCodes.learn(item.payment.authorization.from, answers[index])),
  )
  return planned.filter((one, index) => {
    const verdict = verdicts[index] as Verdict
    if (verdict.status === 'fails') setAside(one.item, verdict)
    else if (contracts.has(one)) setAside(one.item, 'put_back')
    else return true
    return false
  })
}

const simulator = (deps: SettleGroupDeps) => ({ ...deps, sender: deps.wallets.addresses[0] as Address })
const codeOf = (item: QueuedPayment) => ({ method: 'eth_getCode', params: [item.payment.authorization.from, 'latest'] })

async function planGroup(
  deps: SettleGroupDeps,
  group: readonly QueuedPayment[],
  setAside: SetAside,
): Promise<Planned[]> {
  const only = group[0]
  if (!only?.alone) return group.map((item) => ({ item, plan: planPlain(item.payment, deps.gas) }))
  const [code] = await deps.rpc.batch([codeOf(only)])
  const plan = planContract(only.payment, code !== '0x', deps.factories, deps.gas)
  if ('calls' in plan) return [{ item: only, plan }]
  setAside(only, plan)
  return []
}

async function sendTogether(deps: SettleGroupDeps, planned: readonly Planned[]): Promise<void> {
  const items = planned.map(({ item }) => item)
  const call = joinPlans(
    deps.network,
    planned.map(({ plan }) => plan),
    deps.gas,
  )
  const result = await deps.wallets.send({
    ...call,
    purpose: 'settle',
    references: items.map((item) => item.payment.paymentId),
    usefulUntil: usefulUntil(items, nowSeconds(deps.clock)),
    stillWanted: () => items.some((item) => !item.signal.aborted),
  })
  if (result.status === 'not_sent') {
    for (const item of items) refuse(item, unavailable(`${result.reason}: ${result.message ?? 'nothing was sent'}`))
    return
  }
  for (const item of items) item.transaction = result.transaction
  deps.metrics.count('settlement_batches', { network: deps.network.caip2 })
  deps.metrics.count('settlement_batched_payments', { network: deps.network.caip2 }, items.length)
  await tellOutcomes(deps, items, await result.outcome)
}

/** Until the last authorization expires, at most an hour: a payer may sign one that is valid for centuries. */
function usefulUntil(items: readonly QueuedPayment[], now: number): number {
  const latest = Math.max(...items.map(({ payment }) => Number(payment.authorization.validBefore)))
  return Math.min(latest, now + 3_600)
}

async function tellOutcomes(
  deps: SettleGroupDeps,
  items: readonly QueuedPayment[],
  outcome: TransactionOutcome,
): Promise<void> {
  if (outcome.status === 'stopped') {
    for (const item of items)
      item.finish({
        status: 'unknown',
        reason: 'settlement_pending',
        ...(item.transaction ? { transaction: item.transaction } : {}),
      })
    return
  }
  if (outcome.status === 'replaced') {
    for (const item of items)
      refuse(item, {
        reason: 'invalid_transaction_state',
        message: 'The transaction was cancelled before it took effect.',
      })
    return
  }
  const { receipt } = outcome
  // Each bears an equal part, rounded up: a cost is never shown smaller than it was.
  const shareGwei = ceilDivide(outcome.costWei, 1_000_000_000n * BigInt(items.length))
  const used = usedAuthorizations(receipt)
  const failed: QueuedPayment[] = []
  for (const item of items) {
    item.gasGwei += shareGwei
    if (used.has(authorizationKey(item.payment.asset, item.payment.authorization)))
      item.finish({ status: 'submitted', transaction: receipt.transactionHash, feeMicro: 0n, gasGwei: item.gasGwei })
    else failed.push(item)
  }
  if (failed.length > 0) await afterFailure(deps, failed, items.length > 1)
}

const ceilDivide = (a: bigint, b: bigint) => (a + b - 1n) / b

/**
 * Included and failed: the newest state says why. A payment that would pass now failed because of others in its batch,
 * and is retried alone.
 */
async function afterFailure(deps: SettleGroupDeps, failed: readonly QueuedPayment[], inBatch: boolean): Promise<void> {
  deps.metrics.count('settlement_failures', { network: deps.network.caip2 }, failed.length)
  for (const item of failed) {
    const verdict = await whyFailed(deps, item)
    const hasTime =
      item.payment.authorization.validBefore > BigInt(nowSeconds(deps.clock) + deps.network.blockSecondsTypical * 2)
    if (verdict.status === 'fails') refuse(item, verdict)
    else if (inBatch && !item.retried && hasTime && !item.signal.aborted) {
      item.retried = true
      item.alone = true
      deps.putBack(item)
    } else
      refuse(item, { reason: 'invalid_transaction_state', message: 'The transfer was included in a block and failed.' })
  }
}

async function whyFailed(deps: SettleGroupDeps, item: QueuedPayment): Promise<Verdict> {
  try {
    const { verdicts } = await simulateSettlements(simulator(deps), [planPlain(item.payment, deps.gas)])
    return verdicts[0] as Verdict
  } catch {
    return {
      status: 'fails',
      reason: 'invalid_transaction_state',
      message: 'The transfer was included in a block and failed.',
    }
  }
}
