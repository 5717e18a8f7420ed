import type { Address } from '@assay/protocol/address'
import { type ChainPort, ChainUnreadable } from '../chain/index.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import type { Scheme } from '../contract/scheme.ts'
import { creditLines } from '../credit/credit-balance.ts'
import { creditPayment, insertCredited } from '../gate/credit-payment.ts'
import { findConflict } from '../gate/store-advance.ts'
import {
  accounts,
  addPayToPart,
  type LedgerLine,
  post,
  postponeTransfer,
  type TransferRow,
  takeTransfer,
  unexplainedTransfers,
} from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { explainByParties, explainClaimed, explainUnclaimed } from '../transitions/explain-transfer.ts'
import type { ReconcileDeps, ReconciledAddress } from './reconcile.ts'

const perRunMax = 1_000

type Explained = 'pending' | 'credited' | 'review' | 'moved' | 'missing' | 'gap'

/**
 * Posts each recorded transfer as what it is. One that cannot be explained now is tried again later and does not block
 * the others.
 */
export async function explainTransfers(
  deps: ReconcileDeps,
  chain: ChainPort,
  targets: readonly ReconciledAddress[],
): Promise<Map<'pay_to' | 'custody', number>> {
  const counts = new Map<'pay_to' | 'custody', number>()
  const network = chain.network.caip2
  const ours = targets.map(({ address }) => address)
  const rows = await unexplainedTransfers(deps.database, network, deps.clock.nowMs(), perRunMax, ours)
  let gapUntil: bigint | undefined
  let gapRead = false
  for (const row of rows)
    try {
      // What left comes first: a payout that the books have lost shows that they were restored.
      if (!gapRead && !ours.includes(row.sender)) {
        gapUntil = await deps.gapUntil?.(network)
        gapRead = true
      }
      const outcome = await explain(deps, targets, row, gapUntil)
      const into = targets.find(({ address }) => address === row.recipient)
      if (into && (outcome === 'credited' || outcome === 'review' || outcome === 'gap'))
        counts.set(into.payee, (counts.get(into.payee) ?? 0) + 1)
      if (outcome === 'pending' || outcome === 'missing')
        await postponeTransfer(deps.database, row.id, deps.clock.nowMs())
    } catch (error) {
      if (error instanceof ChainUnreadable) throw error
      deps.metrics.count('alarms', { alarm: 'transfer_unexplained' })
      deps.log.error({ network, transaction: row.transaction, error: String(error) }, 'a transfer could not be posted')
      await postponeTransfer(deps.database, row.id, deps.clock.nowMs())
    }
  return counts
}

async function explain(
  deps: ReconcileDeps,
  targets: readonly ReconciledAddress[],
  row: TransferRow,
  gapUntil: bigint | undefined,
): Promise<Explained> {
  const into = targets.find(({ address }) => address === row.recipient)
  const outOf = targets.find(({ address }) => address === row.sender)
  const claim = into && !outOf ? await claimOf(deps, row) : undefined
  const byParties = explainByParties({ into, outOf, hasKey: row.paymentKey !== undefined })
  if (into && outOf) {
    // The operator's own money may be withdrawn to PAY_TO by a payout.
    const isPayout = outOf.payee === 'custody' && row.paymentKey !== undefined && (await isSentByUs(deps, row))
    return isPayout ? 'pending' : postBetween(deps, row, outOf, into, byParties === 'funding')
  }
  if (outOf) return explainOutbound(deps, row, byParties === 'withdrawal')
  if (!into) throw new Error('a transfer of addresses that are not ours')
  if (claim) return postClaimed(deps, row, into, claim, gapUntil)
  const expected = await inboundAccountOf(deps, row)
  if (expected) {
    await postTransferAs(deps, row, { as: 'expected', for: row.sender, kind: 'inbound' }, async () => [
      { account: accounts.onchain(row.network, into.payee), amount: row.amountMicro },
      { account: expected, amount: -row.amountMicro },
    ])
    return 'moved'
  }
  // A plain transfer may be anything; a payment key shows that its sender signed it for us.
  if (row.paymentKey === undefined) return postReview(deps, row, into)
  const unclaimed = explainUnclaimed(into, row, gapUntil)
  if (unclaimed.post === 'gap') return postGap(deps, row, into)
  if (unclaimed.post === 'review') return postReview(deps, row, into)
  if (await isListed(deps, row)) return postReview(deps, row, into)
  return creditUnclaimed(deps, row, into, row.paymentKey)
}

async function inboundAccountOf({ inboundAccounts = [] }: ReconcileDeps, row: TransferRow) {
  for (const accountOf of inboundAccounts) {
    const account = await accountOf(row)
    if (account) return account
  }
  return undefined
}

/** The claim that a transfer may pay, found by the payment keys that the schemes read from it. */
async function claimOf({ database, schemes }: ReconcileDeps, row: TransferRow): Promise<PaymentRecord | undefined> {
  const { network, sender: payer } = row
  for (const scheme of schemes.all) {
    const paymentKey = await scheme.evidence.keyOf(row)
    const claim = paymentKey && (await findConflict(database, { network, payer, paymentKey, identifierHash: null }))
    if (claim && claim.scheme === scheme.id) return claim
  }
  return undefined
}

async function postClaimed(
  deps: ReconcileDeps,
  row: TransferRow,
  into: ReconciledAddress,
  claim: PaymentRecord,
  gapUntil: bigint | undefined,
): Promise<Explained> {
  const explained = explainClaimed(claim, into, row, gapUntil)
  if (explained.post === 'nothing') return 'pending'
  if (explained.post === 'gap') return postGap(deps, row, into)
  if (explained.post === 'review') return postReview(deps, row, into)
  if (explained.post === 'claim') {
    deps.metrics.count('alarms', { alarm: 'paid_after_refusal' })
    deps.log.error(
      { paymentId: claim.id, transaction: row.transaction },
      'a payment was submitted after it had been refused; its payer has the amount as credit',
    )
    await creditPayment(deps, claim, { ...row, status: 'confirmed', gasGwei: 0n }, 'landed_after_refusal')
    return 'credited'
  }
  const credited = await postTransferAs(
    deps,
    row,
    { as: 'credit', for: claim.id, kind: 'credit' },
    async (tx) => [
      { account: accounts.onchain(row.network, into.payee), amount: explained.micro },
      ...(await creditLines(tx, row.network, row.sender, explained.micro)),
    ],
    async (tx, posted) => {
      if (into.payee === 'pay_to') await addPayToPart(tx, accounts.credit(row.network, row.sender), posted)
    },
  )
  if (credited)
    deps.log.warn(
      { paymentId: claim.id, transaction: row.transaction, micro: row.amountMicro.toString() },
      'a payment key was used for another transfer than the one claimed; its payer has that amount as credit',
    )
  return 'credited'
}

async function isListed({ screening, metrics, log }: ReconcileDeps, row: TransferRow): Promise<boolean> {
  const hit = await screening?.find(row.sender)
  if (!hit) return false
  metrics.count('alarms', { alarm: 'account_frozen' })
  log.error(
    { network: row.network, transaction: row.transaction, ...hit },
    'a listed account sent money; it is not credited and waits for a person',
  )
  return true
}

/** The scheme whose key a transfer shows. */
async function schemeShowing({ schemes }: ReconcileDeps, row: TransferRow): Promise<Scheme | undefined> {
  for (const scheme of schemes.all) if ((await scheme.evidence.keyOf(row)) === row.paymentKey) return scheme
  return undefined
}

async function creditUnclaimed(
  deps: ReconcileDeps,
  row: TransferRow,
  into: ReconciledAddress,
  paymentKey: `0x${string}`,
): Promise<Explained> {
  const scheme = await schemeShowing(deps, row)
  if (!scheme) return postReview(deps, row, into)
  const claim = {
    id: deps.ids.next('pay'),
    network: row.network,
    asset: row.asset,
    payer: row.sender,
    scheme: scheme.id,
    paymentKey,
    payTo: into.address,
    payee: into.payee,
    amountMicro: row.amountMicro,
    validBefore: 0n,
    routeId: 'inbound',
    resource: '',
    fingerprint: Buffer.alloc(32),
    ref: null,
    aff: null,
    headBlock: row.blockNumber,
  }
  await insertCredited(deps, claim, { ...row, status: 'confirmed', gasGwei: 0n })
  deps.log.warn(
    { network: row.network, transaction: row.transaction },
    'a payment that nobody claimed was credited to its payer',
  )
  return 'credited'
}

/** What leaves PAY_TO is a withdrawal. What leaves custody is posted by whatever sent it, or is missing. */
async function explainOutbound(deps: ReconcileDeps, row: TransferRow, isWithdrawal: boolean): Promise<Explained> {
  if (isWithdrawal) {
    await postTransferAs(deps, row, { as: 'withdrawal', for: row.recipient, kind: 'withdrawal' }, async () => [
      { account: accounts.operator(row.network, 'usdc'), amount: row.amountMicro },
      { account: accounts.onchain(row.network, 'pay_to'), amount: -row.amountMicro },
    ])
    return 'moved'
  }
  if (await isSentByUs(deps, row)) return 'pending'
  const { rowCount } = await deps.database.query(
    `update transfer set missing = true where id = $1 and posted_as is null and not missing`,
    [row.id],
  )
  if (rowCount > 0) {
    deps.log.error(
      { network: row.network, transaction: row.transaction, micro: row.amountMicro.toString() },
      'money left custody and nothing of this node sent it',
    )
    await deps.onMissing?.(row)
  }
  return 'missing'
}

/** Whether a payout or a contract of ours explains it, and has posted it or will. */
async function isSentByUs({ explainsOutbound = [] }: ReconcileDeps, row: TransferRow): Promise<boolean> {
  for (const explains of explainsOutbound) if (await explains(row)) return true
  return false
}

/** The operator moved money between addresses of this node, such as into custody so that affiliates can be paid. */
async function postBetween(
  deps: ReconcileDeps,
  row: TransferRow,
  outOf: ReconciledAddress,
  into: ReconciledAddress,
  isFunding: boolean,
): Promise<Explained> {
  if (!isFunding) {
    await deps.database.transaction((tx) =>
      takeTransfer(tx, row, { as: 'moved', for: row.recipient }, deps.clock.nowMs()),
    )
    return 'moved'
  }
  await postTransferAs(deps, row, { as: 'funding', for: row.recipient, kind: 'funding' }, async () => [
    { account: accounts.onchain(row.network, into.payee), amount: row.amountMicro },
    { account: accounts.onchain(row.network, outOf.payee), amount: -row.amountMicro },
  ])
  return 'moved'
}

/** A plain transfer: it is in the books as unmatched, and an operator decides: `decideReview`. */
async function postReview(deps: ReconcileDeps, row: TransferRow, into: ReconciledAddress): Promise<Explained> {
  await postTransferAs(deps, row, { as: 'review', for: into.payee, kind: 'unmatched' }, async () => [
    { account: accounts.onchain(row.network, into.payee), amount: row.amountMicro },
    { account: accounts.unmatched(row.network, into.payee), amount: -row.amountMicro },
  ])
  return 'review'
}

/** Between the backup and the restore this may have been sold or credited: nobody gets it a second time. */
async function postGap(deps: ReconcileDeps, row: TransferRow, into: ReconciledAddress): Promise<Explained> {
  await postTransferAs(deps, row, { as: 'gap', for: into.payee, kind: 'restore_gap' }, async () => [
    { account: accounts.onchain(row.network, into.payee), amount: row.amountMicro },
    { account: accounts.restoreGap(row.network, into.payee), amount: -row.amountMicro },
  ])
  return 'gap'
}

/** One posting for one transfer; false when it was posted meanwhile. */
async function postTransferAs(
  deps: ReconcileDeps,
  row: TransferRow,
  posting: { as: string; for: Address | string; kind: string },
  lines: (tx: Tx) => Promise<LedgerLine[]>,
  afterwards?: (tx: Tx, posted: readonly LedgerLine[]) => Promise<void>,
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const transfer = await takeTransfer(tx, row, posting, deps.clock.nowMs())
    if (!transfer) return false
    const { kind } = posting
    const reference = `${kind}:${row.network}:${row.transaction}:${row.position}#${transfer.turn}`
    const posted = await lines(tx)
    await post(tx, [{ reference, kind, transfer, lines: posted }])
    await afterwards?.(tx, posted)
    return true
  })
}
