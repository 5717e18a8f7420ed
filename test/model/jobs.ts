import { decideAfterReorg, decideFinality } from '../../packages/till/src/transitions/decide-finality.ts'
import {
  decidePayoutUse,
  decideUnusedPayout,
  moneyMayLeave,
} from '../../packages/till/src/transitions/decide-payout.ts'
import {
  decideAbandoned,
  decideByRows,
  decideHeld,
  decideUnknown,
  decideWatched,
  mayReadRows,
} from '../../packages/till/src/transitions/decide-recovery.ts'
import { decideFinish } from '../../packages/till/src/transitions/decide-settlement.ts'
import {
  explainByParties,
  explainClaimed,
  explainUnclaimed,
} from '../../packages/till/src/transitions/explain-transfer.ts'
import { reasonOfOtherUse } from '../../packages/till/src/transitions/other-use.ts'
import { isUnsold, paidStates } from '../../packages/till/src/transitions/payment-state.ts'
import { hasExpired, resolveUnknown, type UnknownFacts } from '../../packages/till/src/transitions/resolve-unknown.ts'
import { moves } from '../../packages/till/src/transitions/state-changes.ts'
import {
  authorizationOf,
  canonicalHash,
  confirmedOf,
  evidenceByKey,
  evidenceByTransaction,
  expectedOf,
  hashOf,
  isFinal,
  isOurs,
  recipientOf,
  seenIn,
  seenOf,
  us,
  usedAt,
  useOf,
} from './abstract-chain.ts'
import {
  conflictOf,
  credit,
  endRow,
  finish,
  gapOf,
  insertCredited,
  moveTo,
  postTransfer,
  record,
  rowOf,
  undo,
} from './abstract-store.ts'
import { checkFreshPayers } from './invariants.ts'
import { reasons } from './reasons.ts'
import { admits, finishFacts, isOursOn } from './request.ts'
import {
  type Bound,
  headOf,
  type Payout,
  type Row,
  type Seen,
  type TransferRow,
  timeOf,
  Violation,
  validBefore,
  type World,
  type Write,
} from './world.ts'

/** The jobs of recovery, reconciliation, finality and payouts: each reads, decides by the functions of the till, and writes later. */

/** `unlucky`: a read did not show what is there, as happens for a while. */
export type Job = { label: string; write: Write; unlucky: boolean }

const nameOf = (move: object): string =>
  Object.keys(moves).find((name) => moves[name as keyof typeof moves] === move) as string

/** Every job that has something to write now. One that decides to wait changes nothing. */
export function jobsOf(bound: Bound, world: World): Job[] {
  const jobs: Job[] = []
  const add = (label: string, write: Write | undefined, unlucky = false) => {
    if (write) jobs.push({ label, write, unlucky })
  }
  for (const row of world.store.rows) {
    if (row.state === 'claimed' || row.state === 'settling') add(`takes over ${row.id}`, abandoned(world, row))
    if (row.state === 'unknown')
      for (const found of [true, false])
        add(`resolves ${row.id}${found ? '' : ' from the rows'}`, resolve(bound, world, row, found), !found)
    if (row.state === 'settled') add(`releases ${row.id}`, held(bound, world, row))
    if (isUnsold(row.state) && !row.final) add(`stops watching ${row.id}`, watched(world, row))
    if (paidStates.includes(row.state) && !row.final && row.at !== null && row.at <= world.final)
      add(`looks at the block of ${row.id}`, finality(bound, world, row))
  }
  for (const transfer of world.store.transfers)
    if (transfer.final && transfer.postedAs === null)
      add(`explains ${transfer.tx} at ${transfer.position}`, explain(bound, world, transfer))
  for (const payout of world.store.payouts)
    if (payout.state === 'signed') add('looks at the payout', watchPayout(world, payout))
  return jobs
}

function abandoned(world: World, row: Row): Write | undefined {
  if (world.alive.includes(row.owner) && !row.leaseOver) return undefined
  const { move, reason } = decideAbandoned(row.state as 'claimed' | 'settling')
  return { do: 'end', row: row.id, move: nameOf(move), reason }
}

/** `found` is false when the search near the claim does not show the use of the key. */
function resolve(bound: Bound, world: World, row: Row, found: boolean): Write | undefined {
  const payment = {
    headBlock: BigInt(row.head),
    validBefore: validBefore(row.until),
    transaction: row.tx,
    reason: row.reason,
  }
  const head = headOf(world)
  const read: Record<keyof UnknownFacts, () => UnknownFacts> = {
    byTransaction: () => ({ byTransaction: evidenceByTransaction(bound, world, row.tx as string, expectedOf(row)) }),
    used: () => ({ used: useOf(world, row.key) !== undefined }),
    byKey: () => ({ byKey: found ? evidenceByKey(bound, world, expectedOf(row)) : { status: 'absent' } }),
    headTime: () => ({ headTime: timeOf(head) }),
    usedAtHead: () => ({ usedAtHead: usedAt(world, row.key, head) }),
    finalTime: () => ({ finalTime: timeOf(world.final) }),
    usedAtFinal: () => ({ usedAtFinal: usedAt(world, row.key, world.final) }),
  }
  let facts: UnknownFacts = {}
  let verdict = resolveUnknown(payment, facts, reasons)
  while (verdict.status === 'need') {
    facts = { ...facts, ...read[verdict.fact]() }
    verdict = resolveUnknown(payment, facts, reasons)
  }
  if (!found && facts.byKey === undefined) return undefined
  const other =
    verdict.status === 'used_otherwise'
      ? { final: isFinal(world, verdict.use), ...reasonOfOtherUse(reasons, isOursOn, 'n', verdict.use) }
      : undefined
  const decision = decideUnknown(verdict, other)
  if (decision.do === 'finish') return finishing(bound, world, row, seenIn(decision.evidence))
  if (decision.do === 'credit')
    return { do: 'credit', row: row.id, seen: seenIn(decision.evidence), reason: 'spent_before_claim' }
  if (decision.do === 'end') return { do: 'end', row: row.id, move: nameOf(decision.move), reason: decision.reason }
  return decision.do === 'read_rows' ? byRows(bound, world, row) : undefined
}

function byRows(bound: Bound, world: World, row: Row): Write | undefined {
  if (!mayReadRows({ validBefore: validBefore(row.until) }, timeOf(world.final))) return undefined
  const decision = decideByRows(
    { payTo: us, amountMicro: BigInt(row.micro) },
    { usedAndRecorded: usedAt(world, row.key, world.store.cursor), rows: rowsOfKey(world, row.key) },
    isOurs,
    reasons.paidToOthers,
  )
  if (decision.do === 'wait') return undefined
  if (decision.do === 'end') return { do: 'end', row: row.id, move: nameOf(decision.move), reason: decision.reason }
  const { tx, at, fork, position } = decision.row
  return finishing(bound, world, row, { tx, at, fork, position })
}

const rowsOfKey = (world: World, key: string) =>
  world.store.transfers
    .filter((transfer) => transfer.key === key)
    .map((transfer) => ({ ...transfer, recipient: recipientOf(transfer), amountMicro: BigInt(transfer.micro) }))

function finishing(bound: Bound, world: World, row: Row, seen: Seen): Write {
  const final = isFinal(world, confirmedOf(seen))
  return {
    ...{ do: 'finish', row: row.id, seen },
    ...decideFinish(finishFacts(bound, row, final, admits(bound, world, row))),
  }
}

function held(bound: Bound, world: World, row: Row): Write | undefined {
  if (row.at === null || row.tx === null || world.final < row.at) return undefined
  const decision = decideHeld(BigInt(world.final), evidenceByTransaction(bound, world, row.tx, expectedOf(row)))
  return decision.do === 'finish' ? finishing(bound, world, row, seenIn(decision.evidence)) : undefined
}

function watched(world: World, row: Row): Write | undefined {
  if (!hasExpired(timeOf(world.final), validBefore(row.until))) return undefined
  const facts = {
    usedAtFinal: usedAt(world, row.key, world.final),
    usedAndRecorded: usedAt(world, row.key, world.store.cursor),
    rows: rowsOfKey(world, row.key),
  }
  return decideWatched(facts) === 'final' ? { do: 'final', row: row.id, state: row.state } : undefined
}

function finality(bound: Bound, world: World, row: Row): Write | undefined {
  const decision = decideFinality(
    { state: row.state, blockHash: hashOf(row.at as number, row.fork as number) },
    canonicalHash(world, row.at as number),
  )
  if (decision === 'final') return { do: 'final', row: row.id, state: row.state }
  if (decision === 'wait' || row.tx === null) return undefined
  const after = decideAfterReorg(
    { logPosition: row.position },
    evidenceByTransaction(bound, world, row.tx, expectedOf(row)),
  )
  const fork = row.fork as number
  if (after.do === 'move') return { do: 'move', row: row.id, fork, seen: seenIn(after.to) }
  return after.do === 'undo' ? { do: 'undo', row: row.id, fork, state: row.state } : undefined
}

function explain(bound: Bound, world: World, transfer: TransferRow): Write | undefined {
  const into = { payee: 'pay_to', exclusive: bound.shared !== true } as const
  const byParties = explainByParties({ into, outOf: undefined, hasKey: true })
  if (byParties !== undefined) throw new Error('a transfer to us is decided by its claim')
  const facts = {
    recipient: recipientOf(transfer),
    amountMicro: BigInt(transfer.micro),
    blockNumber: BigInt(transfer.at),
  }
  const auth = authorizationOf(bound, transfer.auth)
  const claim = conflictOf(world.store, auth)
  const seen = { tx: transfer.tx, at: transfer.at, fork: transfer.fork, position: transfer.position }
  const gapUntil = gapOf(world.store)
  if (claim) {
    const explained = explainClaimed(
      { state: claim.state, payTo: us, amountMicro: BigInt(claim.micro) },
      into,
      facts,
      gapUntil,
    )
    if (explained.post === 'nothing') return undefined
    if (explained.post === 'gap' || explained.post === 'review')
      return { do: 'post', transfer: transfer.id, as: explained.post, micro: transfer.micro }
    if (explained.post === 'claim') return { do: 'credit', row: claim.id, seen, reason: 'landed_after_refusal' }
    return { do: 'post', transfer: transfer.id, as: 'credit', micro: Number(explained.micro) }
  }
  const unclaimed = explainUnclaimed(into, facts, gapUntil)
  if (unclaimed.post !== 'credit')
    return { do: 'post', transfer: transfer.id, as: unclaimed.post, micro: transfer.micro }
  return { do: 'insert_credited', auth: transfer.auth, id: `${transfer.key}/in`, seen }
}

function watchPayout(world: World, payout: Payout): Write | undefined {
  const out = world.outs.find(({ n, payer }) => n === payout.n && payer === payout.payer)
  if (out) {
    const seen = { tx: `payout:${out.n}`, at: out.at, fork: world.blocks[out.at] as number, position: 0 }
    const decision = decidePayoutUse({ status: 'transfer' }, isFinal(world, confirmedOf(seen)))
    return decision === 'paid' ? { do: 'pay', n: payout.n, seen } : undefined
  }
  const time = { finalTime: timeOf(world.final), validBefore: validBefore(payout.until) }
  if (decideUnusedPayout(time) !== 'read_final') return undefined
  return decideUnusedPayout({ ...time, usedAtFinal: false }) === 'return' ? { do: 'return', n: payout.n } : undefined
}

export function performWrite(bound: Bound, world: World, write: Write): void {
  const { store } = world
  switch (write.do) {
    case 'finish':
      if (!write.hold && !isFinal(world, confirmedOf(write.seen)))
        checkFreshPayers(bound, world, rowOf(store, write.row))
      finish(world, write)
      return
    case 'credit':
      credit(store, write)
      return
    case 'end':
      endRow(store, write)
      return
    case 'final':
      if (rowOf(store, write.row).state === write.state)
        Object.assign(rowOf(store, write.row), { final: true, provisional: false })
      return
    case 'move':
      moveTo(store, write)
      return
    case 'undo':
      undo(bound, world, write)
      return
    case 'post':
      postTransfer(store, write)
      return
    case 'insert_credited':
      insertCredited(bound, store, write)
      return
    case 'pay':
    case 'return':
      endPayout(store, write)
  }
}

function endPayout(store: World['store'], write: Extract<Write, { do: 'pay' | 'return' }>): void {
  const payout = store.payouts.find(({ n }) => n === write.n)
  if (payout?.state !== 'signed') return
  store.books.clearingPayouts -= payout.micro
  if (write.do === 'pay') {
    payout.state = 'paid'
    store.books.onchain -= payout.micro
  } else {
    payout.state = 'returned'
    store.books.credit[payout.payer] = (store.books.credit[payout.payer] ?? 0) + payout.micro
  }
}

/** Records transfers up to the final block; a restore is over once its gap is recorded. */
export function reconcile(bound: Bound, world: World): void {
  const { store } = world
  const moved = world.uses
    .filter(({ at, auth }) => at > store.cursor && at <= world.final && authorizationOf(bound, auth).to === 'us')
    .map((use) => {
      const { payer, micro, key } = authorizationOf(bound, use.auth)
      return { ...seenOf(world, use), auth: use.auth, sender: payer, recipient: 'us' as const, micro, key }
    })
  record(store, world.final, moved)
  if (store.gap?.lapsed === null && timeOf(world.final) > store.gap.lapses) store.gap.lapsed = world.final
  if (store.gap && !store.gap.reconciled) postLostPayouts(world)
  if (store.gap && store.gap.until <= store.cursor) store.gap.reconciled = true
}

/** A payout that the books have lost is posted as what the chain shows: its payee owes it. */
function postLostPayouts({ store, outs, final }: World): void {
  for (const { n, payer, micro, at } of outs) {
    if (at > final || store.payouts.some((payout) => payout.n === n && payout.payer === payer)) continue
    store.payouts.push({ n, payer, micro, state: 'paid', until: at })
    store.books.onchain -= micro
    const taken = Math.min(store.books.credit[payer] ?? 0, micro)
    store.books.credit[payer] = (store.books.credit[payer] ?? 0) - taken
    store.books.owed[payer] = (store.books.owed[payer] ?? 0) + micro - taken
  }
}

/** A refund of credit: nothing of the wallet may be open, watched or not final. */
export function mayPayOut(world: World, payer: string): boolean {
  const { store } = world
  if (!moneyMayLeave({ stopped: false, restoring: store.gap !== null && !store.gap.reconciled })) return false
  const settled = store.rows.every((row) => row.payer !== payer || row.final)
  const known = store.transfers.every(({ sender, postedAs }) => sender !== payer || postedAs !== null)
  return (
    settled && known && (store.books.credit[payer] ?? 0) > 0 && store.payouts.every(({ state }) => state === 'returned')
  )
}

export function signPayout(world: World, payer: string): void {
  const { store } = world
  if (store.gap && !store.gap.reconciled)
    throw new Violation('a payout is signed before the gap of a restore is reconciled')
  const micro = store.books.credit[payer] as number
  store.books.credit[payer] = 0
  store.books.clearingPayouts += micro
  const n = store.payouts.filter(({ state }) => state === 'paid').length
  store.payouts = store.payouts.filter((payout) => payout.n !== n)
  store.payouts.push({ n, payer, micro, state: 'signed', until: headOf(world) + 1 })
}
