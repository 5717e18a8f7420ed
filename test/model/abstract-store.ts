import { transferKey } from '../../packages/till/src/ledger/transfer-key.ts'
import { reachOfGap } from '../../packages/till/src/store/restore.ts'
import {
  claimKey,
  decideClaim,
  fitsBalance,
  isLeftUnsettled,
  mayReclaim,
} from '../../packages/till/src/transitions/decide-claim.ts'
import { reorgLossAccount } from '../../packages/till/src/transitions/decide-finality.ts'
import { isInGap } from '../../packages/till/src/transitions/explain-transfer.ts'
import { isOpen, lostAnswerStates, type PaymentState } from '../../packages/till/src/transitions/payment-state.ts'
import {
  answeredBefore,
  inFlightChange,
  mayMove,
  moves,
  type StateChange,
} from '../../packages/till/src/transitions/state-changes.ts'
import { authorizationOf } from './abstract-chain.ts'
import {
  type Authorization,
  type Bound,
  type Handler,
  type Row,
  type Seen,
  type Store,
  type TransferRow,
  Violation,
  type World,
  type Write,
} from './world.ts'

/** One statement or transaction of the database each. They are guarded as the real ones are, by the moves of the till. */

const balanceMicro = 1_000

export const rowOf = (store: Store, id: string): Row => {
  const row = store.rows.find((one) => one.id === id)
  if (!row) throw new Error(`no row ${id}`)
  return row
}
export const conflictOf = (store: Store, { key }: Authorization): Row | undefined =>
  rowStoredAs(store, storedKey(key, key))

function rowStoredAs(store: Store, stored: string): Row | undefined {
  return store.rows.find((row) => row.stored === stored)
}

function storedKey(id: string, key: string): string {
  const of = { id, network: 'n', asset: 'a', payer: 'p', paymentKey: `0x${key}` }
  return JSON.stringify(claimKey(of).key)
}

/** The same guard as the update of the store, and its effect on what the payer has open. */
function apply(
  store: Store,
  row: Row,
  move: StateChange,
  worker?: { owner: number; attempt: number },
): PaymentState | undefined {
  const facts = { state: row.state, owner: BigInt(row.owner), attempt: row.attempt, reason: row.reason }
  if (!mayMove(move, facts, worker && { owner: BigInt(worker.owner), attempt: worker.attempt })) return undefined
  if (row.final) throw new Violation(`${row.id} was final as ${row.state} and becomes ${move.to}`)
  const was = row.state
  row.state = move.to
  if (move.final) row.final = true
  count(store, row, inFlightChange(was, move.to))
  return was
}

function count(store: Store, row: Row, change: number): void {
  const open = store.open[row.payer]
  if (!open) throw new Error('no payer')
  open.count += change
  open.micro += change * row.micro
}

export function endRow(
  store: Store,
  write: Extract<Write, { do: 'end' }>,
  worker?: { owner: number; attempt: number },
): boolean {
  const row = rowOf(store, write.row)
  const move: StateChange = moves[write.move as keyof typeof moves]
  if (apply(store, row, move, worker) === undefined) return false
  row.reason = write.reason
  if (write.tx !== undefined) row.tx = write.tx
  if (isOpen(move.to)) row.clientGone = true
  return true
}

/** The statement that claims: undelivered answers, the unique key and the balance are checked in one go. */
export function claim(bound: Bound, store: Store, handler: Handler, ignoreUndelivered: boolean) {
  const { id: auth, key, payer, request, micro, until } = authorizationOf(bound, handler.auth)
  const id = `${key}/${handler.n}`
  const stored = storedKey(id, key)
  const undelivered = ignoreUndelivered
    ? undefined
    : store.rows.find(
        (row) =>
          row.payer === payer &&
          row.request === request &&
          !row.delivered &&
          lostAnswerStates.includes(row.state) &&
          (row.clientGone || row.owner !== handler.owner),
      )
  const isNew = !undelivered && !rowStoredAs(store, stored)
  const open = store.open[payer] as { count: number; micro: number }
  const fits =
    isNew &&
    fitsBalance(
      { ...open, micro: BigInt(open.micro) },
      { amountMicro: BigInt(micro), balanceMicro: BigInt(balanceMicro) },
    )
  if (fits) {
    const row: Row = {
      ...{ id, stored, key, auth, payer, request, micro, until, state: 'claimed', owner: handler.owner, attempt: 0 },
      ...{ leaseOver: false, clientGone: false, delivered: false, head: handler.head, tx: null, at: null, fork: null },
      ...{ position: null, reason: null, final: false, provisional: false, reorgs: 0 },
    }
    store.rows.push(row)
    store.rows.sort((one, other) => (one.id < other.id ? -1 : 1))
    count(store, row, 1)
  }
  return { outcome: decideClaim({ written: fits, undelivered: undelivered?.id ?? null, isNew, fits }), id }
}

/** Claims it as ended, or ends what was released: it is never settled. */
export function leaveUnsettled(bound: Bound, store: Store, handler: Handler): boolean {
  const { id: auth, key, payer, request, micro, until } = authorizationOf(bound, handler.auth)
  const id = `${key}/${handler.n}`
  const stored = storedKey(id, key)
  const known = rowStoredAs(store, stored)
  if (known) {
    if (!known.final && apply(store, known, moves.answerBefore) !== undefined) known.reason = answeredBefore
    return isLeftUnsettled(known)
  }
  store.rows.push({
    ...{ id, stored, key, auth, payer, request, micro, until, state: moves.answerBefore.to, owner: handler.owner },
    ...{ attempt: 0, leaseOver: false, clientGone: false, delivered: false, head: handler.head, tx: null, at: null },
    ...{ fork: null, position: null, reason: answeredBefore, final: false, provisional: false, reorgs: 0 },
  })
  store.rows.sort((one, other) => (one.id < other.id ? -1 : 1))
  return true
}

export function reclaim(bound: Bound, store: Store, handler: Handler, row: Row): boolean {
  const presented = authorizationOf(bound, handler.auth)
  const same = { sameRequest: row.request === presented.request, sameAuthorization: row.auth === presented.id }
  if (!mayReclaim({ ...row, ...same }) || apply(store, row, moves.reclaim) === undefined) return false
  Object.assign(row, { owner: handler.owner, head: handler.head, reason: null, clientGone: false, leaseOver: false })
  return true
}

export function intend(store: Store, handler: Handler): boolean {
  const row = rowOf(store, handler.row)
  if (apply(store, row, moves.intend, { owner: handler.owner, attempt: handler.n }) === undefined) return false
  row.attempt = handler.n
  row.leaseOver = false
  return true
}

export function resume(store: Store, handler: Handler): boolean {
  const row = rowOf(store, handler.row)
  if (apply(store, row, moves.resume) === undefined) return false
  Object.assign(row, { owner: handler.owner, attempt: handler.n, reason: null, clientGone: false, leaseOver: false })
  return true
}

type Money = Pick<TransferRow, 'auth' | 'sender' | 'recipient' | 'micro' | 'key'> & Seen

/** Takes a transfer for posting; undefined when it was posted before. Its row is distinguished from others by the real key. */
function take(store: Store, money: Money, as: string, postedFor: string): TransferRow | undefined {
  const id = idOf(money)
  const known = store.transfers.find((row) => row.id === id)
  if (!known) {
    const row = { ...newTransfer(money, false), postedAs: as, postedFor }
    insert(store, row)
    return row
  }
  const same = known.sender === money.sender && known.recipient === money.recipient && known.micro === money.micro
  if (known.postedAs !== null || !same) return undefined
  Object.assign(known, { postedAs: as, postedFor, at: money.at, fork: money.fork })
  return known
}

const idOf = ({ tx, position }: { tx: string; position: number }) =>
  JSON.stringify(transferKey({ network: 'n', transaction: tx, position }))

function newTransfer(money: Money, final: boolean): TransferRow {
  const { tx, position, auth, sender, recipient, micro, key, at, fork } = money
  return {
    id: idOf(money),
    tx,
    position,
    auth,
    sender,
    recipient,
    micro,
    key,
    at,
    fork,
    postedAs: null,
    postedFor: null,
    final,
  }
}

function insert(store: Store, row: TransferRow): void {
  store.transfers.push(row)
  store.transfers.sort((one, other) => (one.id < other.id ? -1 : 1))
}

const moneyOf = (row: Row, seen: Seen): Money => ({
  ...seen,
  auth: row.auth,
  sender: row.payer,
  recipient: 'us',
  micro: row.micro,
  key: row.key,
})

export type Finished = 'served' | 'held' | 'credited' | 'posted_otherwise' | 'already'

/** Ends a settled payment: its state, its transfer and its postings in one transaction, or nothing. */
export function finish(world: World, { row: id, seen, hold, provisional }: Extract<Write, { do: 'finish' }>): Finished {
  const { store } = world
  const row = rowOf(store, id)
  const move = hold ? moves.hold : moves.serve
  const wasHeld = row.state === 'settled'
  if (!mayMove(move, { ...row, owner: BigInt(row.owner) })) return 'already'
  if (!wasHeld && !take(store, moneyOf(row, seen), 'payment', row.id)) return failPosted(store, row)
  apply(store, row, move)
  Object.assign(row, { tx: seen.tx, at: seen.at, fork: seen.fork, position: seen.position, reason: null, provisional })
  const { books } = store
  if (wasHeld) books.clearing -= row.micro
  else books.onchain += row.micro
  if (hold) books.clearing += row.micro
  else books.revenue += row.micro
  if (!hold) grant(world, row)
  return hold ? 'held' : 'served'
}

function grant(world: World, row: Row): void {
  if (!world.granted.includes(row.id)) world.granted.push(row.id)
  world.granted.sort()
  const others = world.granted.filter((id) => id.split('/')[0] === row.key)
  if (others.length > 1) throw new Violation(`${row.key} bought ${others.length} answers: one payment, one serve`)
}

function failPosted(store: Store, row: Row): Finished {
  endRow(store, { do: 'end', row: row.id, move: 'failPosted', reason: 'paid_otherwise' })
  return 'posted_otherwise'
}

/** Up to which block a transfer may have been sold before a restore. */
export function gapOf({ gap }: Store): bigint | undefined {
  return gap
    ? reachOfGap({ untilBlock: BigInt(gap.until), lapsedBlock: gap.lapsed === null ? null : BigInt(gap.lapsed) })
    : undefined
}

export function credit(store: Store, { row: id, seen, reason }: Extract<Write, { do: 'credit' }>): Finished {
  const row = rowOf(store, id)
  const wasHeld = row.state === 'settled'
  if (!mayMove(moves.credit, { ...row, owner: BigInt(row.owner) })) return 'already'
  if (!wasHeld && isInGap({ blockNumber: BigInt(seen.at) }, gapOf(store))) return failPosted(store, row)
  if (!wasHeld && !take(store, moneyOf(row, seen), 'payment', row.id)) return failPosted(store, row)
  apply(store, row, moves.credit)
  Object.assign(row, { tx: seen.tx, at: seen.at, fork: seen.fork, position: seen.position, reason })
  if (wasHeld) store.books.clearing -= row.micro
  else store.books.onchain += row.micro
  addCredit(store, row.payer, row.micro)
  return 'credited'
}

/** Credit pays what its holder owes first. */
function addCredit(store: Store, payer: string, micro: number): void {
  const { books } = store
  const settled = Math.min(books.owed[payer] ?? 0, micro)
  books.owed[payer] = (books.owed[payer] ?? 0) - settled
  books.credit[payer] = (books.credit[payer] ?? 0) + micro - settled
}

function takeCredit(store: Store, payer: string, micro: number): void {
  const { books } = store
  const taken = Math.min(books.credit[payer] ?? 0, micro)
  books.credit[payer] = (books.credit[payer] ?? 0) - taken
  books.owed[payer] = (books.owed[payer] ?? 0) + micro - taken
}

/** A claim that was never asked for, already credited. */
export function insertCredited(
  bound: Bound,
  store: Store,
  { auth: id, id: rowId, seen }: Extract<Write, { do: 'insert_credited' }>,
): boolean {
  const auth = authorizationOf(bound, id)
  const { key, payer, micro, request } = auth
  const stored = storedKey(rowId, key)
  if (rowStoredAs(store, stored)) return false
  const row: Row = {
    ...{ id: rowId, stored, key, auth: id, payer, request, micro, until: 0, state: 'credited', owner: 0, attempt: 0 },
    ...{
      leaseOver: false,
      clientGone: false,
      delivered: true,
      head: seen.at,
      tx: seen.tx,
      at: seen.at,
      fork: seen.fork,
    },
    ...{ position: seen.position, reason: 'spent_before_claim', final: false, provisional: false, reorgs: 0 },
  }
  if (!take(store, moneyOf(row, seen), 'payment', rowId)) return false
  store.rows.push(row)
  store.rows.sort((one, other) => (one.id < other.id ? -1 : 1))
  store.books.onchain += micro
  addCredit(store, payer, micro)
  return true
}

export function postTransfer(store: Store, { transfer: id, as, micro }: Extract<Write, { do: 'post' }>): void {
  const row = store.transfers.find((one) => one.id === id)
  if (!row || row.postedAs !== null) return
  row.postedAs = as
  store.books.onchain += row.micro
  if (as === 'credit') addCredit(store, row.sender, micro)
  else store.books[as] += row.micro
}

/** A reorganisation took its transfer: everything that was posted for it is reversed. */
export function undo(bound: Bound, world: World, { row: id, fork, state }: Extract<Write, { do: 'undo' }>): void {
  const { store } = world
  const row = rowOf(store, id)
  if (row.fork !== fork || row.state !== state) return
  const transfer = store.transfers.find((one) => one.postedFor === row.id && one.postedAs === 'payment')
  if (!transfer) throw new Violation(`the transfer of ${row.id} is not posted for it and cannot be reversed`)
  const lossAccount = reorgLossAccount({ state, payee: 'pay_to', revocable: bound.revocable === true })
  apply(store, row, moves.undo)
  Object.assign(transfer, { postedAs: null, postedFor: null, final: false })
  const { books } = store
  books.onchain -= row.micro
  if (lossAccount === 'clearing') books.clearing -= row.micro
  else if (lossAccount === 'credit') takeCredit(store, row.payer, row.micro)
  else books.revenue -= row.micro
  if (lossAccount === 'loss') world.lost += row.micro
  if (state === 'served') world.granted = world.granted.filter((one) => one !== row.id)
  Object.assign(row, {
    reason: 'reorged',
    reorgs: row.reorgs + 1,
    at: null,
    fork: null,
    position: null,
    provisional: false,
  })
}

export function moveTo(store: Store, { row: id, fork, seen }: Extract<Write, { do: 'move' }>): void {
  const row = rowOf(store, id)
  if (row.fork !== fork) return
  Object.assign(row, { at: seen.at, fork: seen.fork })
  for (const transfer of store.transfers)
    if (transfer.tx === row.tx && transfer.position === row.position)
      Object.assign(transfer, { at: seen.at, fork: seen.fork })
}

/** Rows for every transfer up to a final block, and the cursor with them. */
export function record(store: Store, upTo: number, moved: readonly Money[]): void {
  for (const money of moved) {
    const known = store.transfers.find((row) => row.id === idOf(money))
    if (known) Object.assign(known, { final: true, at: money.at, fork: money.fork })
    else insert(store, newTransfer(money, true))
  }
  store.cursor = upTo
}
