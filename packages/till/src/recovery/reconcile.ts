import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { type ChainPort, ChainUnreadable, type TransferLog } from '../chain/index.ts'
import type { Schemes } from '../contract/scheme.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { type Account, sealBooks, type TransferRow } from '../ledger/index.ts'
import type { Screening } from '../screening/index.ts'
import type { Database } from '../store/database.ts'
import { explainTransfers } from './explain-transfers.ts'
import { type LogsOf, recordTransfers } from './record-transfers.ts'
import { type Cursor, expectedOnChain, openCursor, readCursor } from './store-reconcile.ts'

export type ReconcileDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  schemes: Schemes
  /** Senders that are listed get no credit by themselves: a person decides. */
  screening?: Screening
  /** Whether something of ours explains this transfer out of custody: a payout, a payment into a contract. */
  explainsOutbound?: readonly ((row: TransferRow) => Promise<boolean>)[]
  /** The other side of a transfer in that something of ours expects: a contract that pays us out. */
  inboundAccounts?: readonly ((row: TransferRow) => Promise<Account | undefined>)[]
  /** Called for a transfer out of custody that nothing explains. */
  onMissing?(row: TransferRow): Promise<void>
  /** Transfers up to this block may have been posted before a restore. */
  gapUntil?(network: string): Promise<bigint | undefined>
  /** Called with what each comparison found. */
  onCompared?(report: ReconcileReport): Promise<void>
}

export type ReconciledAddress = {
  chain: ChainPort
  payee: 'pay_to' | 'custody'
  address: Address
  /** False: others are paid there too, so a transfer without a claim is for a person to look at. */
  exclusive?: boolean
}

export type ReconcileReport = {
  network: string
  payee: 'pay_to' | 'custody'
  upToBlock: bigint
  /** Its time, in seconds. */
  upToTime: number
  /** Negative: the chain has less than the books. */
  differenceMicro: Micro
  /** Transfers without a claim that were posted in this run. */
  unexplained: number
}

/**
 * Records every transfer of our addresses up to a final block, explains them one by one, and compares the books with
 * the balances at that block. A difference is an alarm.
 */
export async function reconcileBooks(
  deps: ReconcileDeps,
  targets: readonly ReconciledAddress[],
): Promise<ReconcileReport[]> {
  const reports: ReconcileReport[] = []
  for (const chain of new Set(targets.map((target) => target.chain)))
    try {
      const here = targets.filter((target) => target.chain === chain)
      reports.push(...(await reconcileChain(deps, chain, here)))
    } catch (error) {
      // The other chains go on.
      const level = error instanceof ChainUnreadable ? 'warn' : 'error'
      if (level === 'error') deps.metrics.count('alarms', { alarm: 'reconcile_failed' })
      deps.log[level](
        { network: chain.network.caip2, error: String(error) },
        'the books could not be compared with the chain',
      )
    }
  return reports
}

async function reconcileChain(
  deps: ReconcileDeps,
  chain: ChainPort,
  targets: readonly ReconciledAddress[],
): Promise<ReconcileReport[]> {
  const final = await chain.finalizedBlock()
  const ours = new Set(targets.map(({ address }) => address))
  const logsOf = sharedLogs(chain, [...ours])
  for (const target of targets) {
    const cursor = await cursorOf(deps, target, final.number)
    if (final.number < cursor.blockNumber) throw new ChainUnreadable('the final block is before the last one compared')
    await recordTransfers({ ...deps, logsOf }, target, cursor, final.number, ours)
  }
  const explained = await explainTransfers(deps, chain, targets)
  await sealBooks(deps.database)
  const held = await chain.usdcBalances([...ours], final.number)
  const heldBy = new Map([...ours].map((address, index) => [address, held[index] as Micro]))
  const reports: ReconcileReport[] = []
  for (const payee of new Set(targets.map((target) => target.payee))) {
    const addresses = targets.filter((target) => target.payee === payee).map(({ address }) => address)
    const onchainMicro = [...new Set(addresses)].reduce((sum, address) => sum + (heldBy.get(address) ?? 0n), 0n)
    const expectedMicro = await expectedOnChain(deps.database, chain.network.caip2, payee, addresses)
    const report = {
      network: chain.network.caip2,
      payee,
      upToBlock: final.number,
      upToTime: final.timestamp,
      differenceMicro: onchainMicro - expectedMicro,
      unexplained: explained.get(payee) ?? 0,
    }
    tell(deps, report)
    await deps.onCompared?.(report)
    reports.push(report)
  }
  return reports
}

/** Addresses whose cursors are at the same block share one search. */
function sharedLogs(chain: ChainPort, addresses: readonly Address[]): LogsOf {
  let last: { range: string; logs: Promise<TransferLog[]> } | undefined
  return async (address, fromBlock, toBlock) => {
    const range = `${fromBlock}-${toBlock}`
    if (last?.range !== range) last = { range, logs: chain.transferLogs(addresses, fromBlock, toBlock) }
    return (await last.logs).filter(({ sender, recipient }) => sender === address || recipient === address)
  }
}

/** Money that was there before the books began is the operator's stake. */
async function cursorOf(deps: ReconcileDeps, target: ReconciledAddress, finalNumber: bigint): Promise<Cursor> {
  const network = target.chain.network.caip2
  const known = await readCursor(deps.database, network, target.address)
  if (known) return known
  const blockNumber = await firstBlock(deps, target, finalNumber)
  const onchainMicro = await target.chain.usdcBalance(target.address, blockNumber)
  const opening = { network, address: target.address, payee: target.payee, blockNumber, onchainMicro }
  return openCursor(deps.database, opening, deps.clock.nowMs())
}

/** Just before the first payment ever claimed or made there; the newest final block when there is none. */
async function firstBlock(deps: ReconcileDeps, target: ReconciledAddress, finalNumber: bigint): Promise<bigint> {
  const { rows } = await deps.database.query<{ first: bigint | null }>(
    `select min(least(head_block, block_number - 1)) as first from payment where network = $1 and pay_to = $2
       -- Nobody was quoted this address before it was ours.
       and id >= first_id_at('pay', coalesce((select min(since) from own_address where network = $1 and address = $2),
         '1970-01-01') - interval '1 day')`,
    [target.chain.network.caip2, target.address],
  )
  const first = rows[0]?.first
  return first === null || first === undefined || first > finalNumber ? finalNumber : first
}

function tell(deps: ReconcileDeps, { network, payee, differenceMicro }: ReconcileReport): void {
  const labels = { network, payee }
  deps.metrics.gauge('reconcile_difference_micro', Number(differenceMicro), labels)
  if (differenceMicro === 0n) return
  deps.metrics.count('alarms', { alarm: 'books_differ' })
  deps.log.error({ ...labels, difference_micro: differenceMicro.toString() }, 'the books differ from the chain')
}
