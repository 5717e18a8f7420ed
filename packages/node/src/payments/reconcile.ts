import { type ChainPort, ChainUnreadable, type InboundTransfer } from '../chain/index.ts'
import type { Address } from '../kernel/address.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Micro } from '../kernel/money.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database } from '../store/database.ts'
import { creditPayment, insertCredited } from './credit-payment.ts'
import { findConflict } from './store-advance.ts'
import {
  advanceCursor,
  type Cursor,
  matchedTransfers,
  onchainBooks,
  openCursor,
  readCursor,
  recordReview,
} from './store-reconcile.ts'

export type ReconcileDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
}

export type ReconciledAddress = { chain: ChainPort; payee: 'pay_to' | 'custody'; address: Address }

export type ReconcileReport = {
  network: string
  payee: string
  upToBlock: bigint
  differenceMicro: Micro
  unexplained: number
}

/**
 * Compares the books with the chain at a final block, address by address. Transfers that no claim explains are credited
 * or put before a person; what is left over is a difference, and a difference is an alarm.
 */
export async function reconcileBooks(
  deps: ReconcileDeps,
  targets: readonly ReconciledAddress[],
): Promise<ReconcileReport[]> {
  const ownAddresses = new Set(targets.map(({ address }) => address))
  const reports: ReconcileReport[] = []
  for (const target of targets) {
    try {
      reports.push(await reconcileAddress({ ...deps, ownAddresses }, target))
    } catch (error) {
      if (!(error instanceof ChainUnreadable)) throw error
      deps.log.warn(
        { network: target.chain.network.caip2, error: error.message },
        'the books could not be compared with the chain',
      )
    }
  }
  return reports
}

type Deps = ReconcileDeps & { ownAddresses: ReadonlySet<Address> }

async function reconcileAddress(deps: Deps, target: ReconciledAddress): Promise<ReconcileReport> {
  const { chain, address, payee } = target
  const network = chain.network.caip2
  const final = await chain.finalizedBlock()
  const cursor = (await readCursor(deps.database, network, address)) ?? (await open(deps, target, final.number))
  if (final.number < cursor.blockNumber) throw new ChainUnreadable('the final block lies before the last one compared')
  const { unexplained, pendingMicro } = await explainInbound(deps, target, cursor.blockNumber + 1n, final.number)
  const withdrawnMicro = await withdrawn(target, cursor.blockNumber + 1n, final.number)
  const onchainMicro = await chain.usdcBalance(address, final.number)
  // A transfer still being worked on is looked at again: the cursor only passes what is explained.
  const advances = pendingMicro === 0n
  const step = { payee, toBlock: final.number, onchainMicro, withdrawnMicro }
  if (advances && !(await advanceCursor(deps.database, cursor, step, deps.clock.nowMs())))
    throw new ChainUnreadable('another process compared this address meanwhile')
  const booksMicro = await onchainBooks(deps.database, network, payee, final.number)
  const differenceMicro = onchainMicro + (advances ? 0n : withdrawnMicro) - booksMicro - pendingMicro
  report(deps, target, differenceMicro)
  return { network, payee, upToBlock: final.number, differenceMicro, unexplained }
}

async function explainInbound(
  deps: Deps,
  target: ReconciledAddress,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<{ unexplained: number; pendingMicro: Micro }> {
  const result = { unexplained: 0, pendingMicro: 0n }
  if (fromBlock > toBlock) return result
  // Anyone may send nothing, from anyone, as often as gas is cheap: it is no money and explains itself.
  const inbound = (await target.chain.inboundTransfers(target.address, fromBlock, toBlock)).filter(
    (transfer) => transfer.amountMicro > 0n,
  )
  const known = await matchedTransfers(deps.database, target.chain.network.caip2, inbound)
  for (const transfer of inbound) {
    if (known.has(`${transfer.transaction} ${transfer.logIndex}`)) continue
    const outcome = await explain(deps, target, transfer)
    if (outcome === 'pending') result.pendingMicro += transfer.amountMicro
    else if (outcome !== 'funding') result.unexplained += 1
  }
  return result
}

/** Money that was there before the books began is the operator's stake. */
async function open(deps: ReconcileDeps, target: ReconciledAddress, blockNumber: bigint): Promise<Cursor> {
  const network = target.chain.network.caip2
  const first = await firstBlock(deps, target, blockNumber)
  const onchainMicro = await target.chain.usdcBalance(target.address, first)
  return openCursor(
    deps.database,
    { network, address: target.address, payee: target.payee, blockNumber: first, onchainMicro },
    deps.clock.nowMs(),
  )
}

/** Just before the first payment ever claimed or made there; the newest final block when there is none. */
async function firstBlock(deps: ReconcileDeps, target: ReconciledAddress, finalNumber: bigint): Promise<bigint> {
  const { rows } = await deps.database.query<{ first: bigint | null }>(
    `select min(least(head_block, block_number - 1)) as first from payment where network = $1 and pay_to = $2`,
    [target.chain.network.caip2, target.address],
  )
  const first = rows[0]?.first
  return first === null || first === undefined || first > finalNumber ? finalNumber : first
}

async function explain(
  deps: Deps,
  target: ReconciledAddress,
  transfer: InboundTransfer,
): Promise<'pending' | 'credited' | 'review' | 'funding'> {
  const { chain, address, payee } = target
  const network = chain.network.caip2
  const nonce = await chain.transferAuthorization(transfer)
  if (nonce === undefined && deps.ownAddresses.has(transfer.sender)) {
    await postFunding(deps, target, transfer)
    return 'funding'
  }
  if (nonce === undefined) {
    await recordReview(deps.database, { network, recipient: address, payee }, transfer, deps.clock.nowMs())
    return 'review'
  }
  const claim = {
    id: deps.ids.next('pay'),
    network,
    asset: chain.network.usdc.address,
    payer: transfer.sender,
    payerIsKey: false,
    nonce,
    payTo: address,
    payee,
    amountMicro: transfer.amountMicro,
    validBefore: 0n,
    routeId: 'inbound',
    resource: '',
    fingerprint: Buffer.alloc(32),
    identifierHash: null,
    ref: null,
    aff: null,
    revocable: false,
    headBlock: transfer.blockNumber,
    balanceMicro: 0n,
    ignoreUndelivered: true,
  }
  const evidence = await chain.settlementByTransaction(transfer.transaction, {
    payer: transfer.sender,
    payTo: address,
    amountMicro: transfer.amountMicro,
    nonce,
  })
  if (evidence.status !== 'confirmed') return 'pending'
  const existing = await findConflict(deps.database, claim)
  if (!existing) {
    await insertCredited(deps, claim, evidence)
    deps.log.warn(
      { network, transaction: transfer.transaction },
      'an authorization that nobody claimed was credited to its payer',
    )
    return 'credited'
  }
  if (existing.state === 'failed' || existing.state === 'released') {
    await creditPayment(deps, existing, evidence, 'landed_after_refusal')
    return 'credited'
  }
  // In flight or unknown: recovery ends it with the same evidence.
  return 'pending'
}

/** PAY_TO is the operator's own: what leaves it is a withdrawal. What leaves custody without a payout shows as a difference. */
async function withdrawn(target: ReconciledAddress, fromBlock: bigint, toBlock: bigint): Promise<Micro> {
  if (target.payee !== 'pay_to' || fromBlock > toBlock) return 0n
  return target.chain.outboundTotal(target.address, fromBlock, toBlock)
}

/** The operator moved money between addresses of this node, such as into custody so that affiliates can be paid. */
async function postFunding(deps: ReconcileDeps, target: ReconciledAddress, transfer: InboundTransfer): Promise<void> {
  const network = target.chain.network.caip2
  await deps.database.transaction((tx) =>
    post(tx, [
      {
        reference: `funding:${network}:${transfer.transaction}:${transfer.logIndex}`,
        kind: 'funding',
        lines: [
          { account: accounts.onchain(network, target.payee), amount: transfer.amountMicro },
          { account: accounts.operator(network, 'usdc'), amount: -transfer.amountMicro },
        ],
      },
    ]),
  )
}

function report(deps: ReconcileDeps, target: ReconciledAddress, differenceMicro: Micro): void {
  const labels = { network: target.chain.network.caip2, payee: target.payee }
  deps.metrics.gauge('reconcile_difference_micro', Number(differenceMicro), labels)
  if (differenceMicro === 0n) return
  deps.metrics.count('alarms', { alarm: 'books_differ' })
  deps.log.error({ ...labels, difference_micro: differenceMicro.toString() }, 'the books differ from the chain')
}
