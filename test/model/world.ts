import type { PaymentState } from '../../packages/till/src/transitions/payment-state.ts'

/** An authorization that a wallet signed: a payment key may be signed any number of times. */
export type Authorization = {
  id: string
  key: string
  payer: string
  micro: number
  /** Our address, somebody else's, or nobody's: a cancellation. */
  to: 'us' | 'them' | 'nobody'
  /** The last block that can carry it. */
  until: number
  /** The request that it is presented with. */
  request: string
  /** Another database with the same payee sells for it. */
  soldByOther?: true
}

/** What a facilitator may say, whatever it did. */
export type Said =
  | 'submitted'
  | 'submitted_other'
  | 'submitted_reverted'
  | 'refused'
  | 'refused_confirmed'
  | 'refused_unsent'
  | 'outage'
  | 'screened'
  | 'nothing'

/** How far a run goes: who acts, how often, and what may go wrong how many times. */
export type Bound = {
  name: string
  authorizations: readonly Authorization[]
  /** How often each is presented to the node. */
  sends: Readonly<Record<string, number>>
  /** A request is sent when the one before has been answered. */
  oneAfterTheOther?: boolean
  /** Those that anyone may carry to the chain. */
  carried: readonly string[]
  processes: 1 | 2
  /** The buyers differ only in their names. */
  alike?: boolean
  /** Height of the last block. */
  heights: number
  says: readonly Said[]
  crashes?: number
  reorgs?: number
  restores?: number
  /** Answers that cannot be prepared. */
  failedPrepares?: number
  /** Leases that run out while their owner lives. */
  leases?: number
  /** Ends of payments that are written after the answer was given. */
  deferred?: number
  /** Writes that are done though their caller sees an error. */
  lostReplies?: number
  /** Answers that do not reach the buyer. */
  lostAnswers?: number
  /** Both authorizations of these are carried in one transaction. */
  batch?: readonly [string, string]
  /** Somebody else carries what the facilitator was asked to. */
  frontRun?: boolean
  revocable?: boolean
  inclusionMicroMax?: number
  capMicro?: number
  /** Every payer counts as one that has paid before. */
  capForAll?: boolean
  payouts?: boolean
  /** The payee is shared with another database, which may have sold for the same transfer. */
  shared?: boolean
  /** Jobs that have read and not yet written. 0: a job reads and writes at once. */
  jobsInProgress: number
}

export type Use = { key: string; auth: string; tx: string; at: number; position: number }

export type Row = {
  id: string
  /** As the unique key of the store has it. */
  stored: string
  key: string
  auth: string
  payer: string
  request: string
  micro: number
  until: number
  state: PaymentState
  owner: number
  attempt: number
  leaseOver: boolean
  clientGone: boolean
  delivered: boolean
  head: number
  tx: string | null
  at: number | null
  fork: number | null
  position: number | null
  reason: string | null
  final: boolean
  provisional: boolean
  reorgs: number
}

export type TransferRow = {
  id: string
  tx: string
  position: number
  auth: string
  sender: string
  recipient: 'us' | 'them'
  micro: number
  key: string
  at: number
  fork: number
  postedAs: string | null
  postedFor: string | null
  final: boolean
}

export type Payout = {
  n: number
  payer: string
  micro: number
  state: 'queued' | 'signed' | 'paid' | 'returned'
  until: number
}

export type Books = {
  onchain: number
  clearing: number
  clearingPayouts: number
  revenue: number
  gap: number
  review: number
  credit: Record<string, number>
  /** What wallets owe us. */
  owed: Record<string, number>
}

export type Store = {
  rows: Row[]
  transfers: TransferRow[]
  payouts: Payout[]
  /** Up to which block every transfer has its row. */
  cursor: number
  open: Record<string, { count: number; micro: number }>
  books: Books
  gap: { until: number; lapses: number; lapsed: number | null; reconciled: boolean } | null
}

/** What was seen on chain, as far as a decision kept it. */
export type Seen = { tx: string; at: number; fork: number; position: number }

/** A decision that is not written yet. */
export type Write =
  | { do: 'finish'; row: string; seen: Seen; hold: boolean; provisional: boolean }
  | { do: 'credit'; row: string; seen: Seen; reason: string }
  | { do: 'end'; row: string; move: string; reason: string; tx?: string }
  | { do: 'final'; row: string; state: PaymentState }
  | { do: 'move'; row: string; fork: number; seen: Seen }
  | { do: 'undo'; row: string; fork: number; state: PaymentState }
  | { do: 'post'; transfer: string; as: 'credit' | 'gap' | 'review'; micro: number }
  | { do: 'insert_credited'; auth: string; id: string; seen: Seen }
  | { do: 'pay'; n: number; seen: Seen }
  | { do: 'return'; n: number }

export type Handler = {
  /** The n-th request; also the number of its attempt. */
  n: number
  auth: string
  owner: number
  at:
    | 'new'
    | 'claim'
    | 'claim_again'
    | 'conflict'
    | 'reclaim'
    | 'resume'
    | 'claimed'
    | 'intend'
    | 'sending'
    | 'decide_again'
    | 'write'
    | 'deferred'
  row: string
  head: number
  /** The newest block that was read. */
  checkedHead: number
  said: Said | null
  write: Write | null
  answer: string | null
}

export type World = {
  /** For each height of the chain, the fork that its block belongs to. */
  blocks: number[]
  final: number
  fork: number
  /** The highest block that ever was: the clock does not go back with a reorganisation. */
  now: number
  uses: Use[]
  /** Payouts in blocks. */
  outs: { n: number; payer: string; micro: number; at: number }[]
  store: Store
  backup: Store | null
  handlers: Handler[]
  jobs: Write[]
  alive: number[]
  /** Left of what the bound allows. */
  left: Record<string, number>
  sent: number
  /** What is true whatever the store says: authorizations that a block ever carried to us, payments whose answer was given. */
  arrived: string[]
  granted: string[]
  lost: number
  answered402: string[]
  /** Keys that got the answer of an earlier payment, and are never settled. */
  answeredBefore: string[]
}

export const headOf = (world: World): number => world.blocks.length - 1
export const timeOf = (height: number): number => 100 * height
export const validBefore = (until: number): bigint => BigInt(timeOf(until) + 50)

/** Something that must never be. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

export function initialWorld(bound: Bound): World {
  const payers = [...new Set(bound.authorizations.map(({ payer }) => payer))]
  const zero = () => Object.fromEntries(payers.map((payer) => [payer, 0]))
  return {
    blocks: [0],
    final: 0,
    fork: 0,
    now: 0,
    uses: [],
    outs: [],
    store: {
      rows: [],
      transfers: [],
      payouts: [],
      cursor: 0,
      open: Object.fromEntries(payers.map((payer) => [payer, { count: 0, micro: 0 }])),
      books: {
        onchain: 0,
        clearing: 0,
        clearingPayouts: 0,
        revenue: 0,
        gap: 0,
        review: 0,
        credit: zero(),
        owed: zero(),
      },
      gap: null,
    },
    backup: null,
    handlers: [],
    jobs: [],
    alive: bound.processes === 2 ? [1, 2] : [1],
    left: {
      crash: bound.crashes ?? 0,
      reorg: bound.reorgs ?? 0,
      restore: bound.restores ?? 0,
      prepare: bound.failedPrepares ?? 0,
      lease: bound.leases ?? 0,
      deferred: bound.deferred ?? 0,
      lostReply: bound.lostReplies ?? 0,
      lostAnswer: bound.lostAnswers ?? 0,
      payout: bound.payouts ? 1 : 0,
      ...Object.fromEntries(Object.entries(bound.sends).map(([id, times]) => [`send ${id}`, times])),
    },
    sent: 0,
    arrived: [],
    granted: [],
    lost: 0,
    answered402: [],
    answeredBefore: [],
  }
}
