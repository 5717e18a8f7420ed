import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { SettleOutcome } from '../../contract/facilitator.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ExactPayment } from '../exact-payment.ts'
import { hasPlainSignature } from './plan-settlement.ts'

/** A payment between the call of `settle` and its outcome. */
export type QueuedPayment = {
  readonly payment: ExactPayment
  readonly signal: AbortSignal
  /** Goes alone, under its own gas limit: its payer is a contract, or a batch failed around it. */
  alone: boolean
  retried: boolean
  transaction: Hex | undefined
  /** What transactions that did not settle it have cost so far. */
  gasGwei: bigint
  finish(outcome: SettleOutcome): void
}

export type QueueLimits = {
  waitingMax: number
  perPayerMax: number
  batchMax: number
  /** While transactions are on their way, new payments gather this long for the next one. */
  gatherMs: number
}

export const defaultQueueLimits: QueueLimits = { waitingMax: 4_000, perPayerMax: 16, batchMax: 100, gatherMs: 100 }

export type SettlementQueue = {
  submit(payment: ExactPayment, signal: AbortSignal): Promise<SettleOutcome>
  size(): number
}

export type PutBack = (item: QueuedPayment) => void

export type QueueOptions = {
  clock: Clock
  limits: QueueLimits
  /** How many transactions may be on their way at once. */
  concurrency: number
  /** `putBack` takes a payment again that must be tried by itself. */
  settleGroup(group: QueuedPayment[], putBack: PutBack): Promise<void>
}

const busy: SettleOutcome = {
  status: 'refused',
  payloadSent: false,
  reason: 'facilitator_busy',
  message: 'Too many payments are waiting to be settled; nothing was sent.',
}

const aborted = {
  status: 'refused',
  payloadSent: false,
  reason: 'settlement_aborted',
  message: 'Nobody waited any more; nothing was sent.',
} as const

/** Two successes for one authorization would be two answers for one payment. */
const duplicate: SettleOutcome = { status: 'unknown', reason: 'duplicate_settlement' }

/** Group commit for the chain: an idle queue sends at once, a busy one gathers what arrives meanwhile into one transaction. */
function createDispatcher({ clock, limits, ...options }: QueueOptions, waiting: QueuedPayment[]): () => void {
  let groups = 0
  let scheduled = false
  let gathering = false
  let gatheredSinceMs = 0

  const schedule = () => {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    // At the end of this turn, so that payments arriving together share a transaction.
    setImmediate(() => {
      scheduled = false
      dispatch()
    })
  }

  const dispatch = () => {
    while (waiting.length > 0 && groups < options.concurrency) {
      if (groups > 0 && waiting.length < limits.batchMax && !gatheredLongEnough()) return gather()
      start(takeGroup(waiting, limits.batchMax))
    }
  }

  const gatheredLongEnough = () => clock.monotonicMs() - gatheredSinceMs >= limits.gatherMs

  const gather = () => {
    if (gathering) return
    gathering = true
    void clock.sleep(limits.gatherMs).then(() => {
      gathering = false
      schedule()
    })
  }

  const putBack: PutBack = (item) => {
    if (item.signal.aborted) return
    waiting.unshift(item)
    schedule()
  }

  const start = (group: QueuedPayment[]) => {
    groups += 1
    gatheredSinceMs = clock.monotonicMs()
    void options.settleGroup(group, putBack).finally(() => {
      groups -= 1
      schedule()
    })
  }

  return schedule
}

export function createSettlementQueue(options: QueueOptions): SettlementQueue {
  const { limits } = options
  const waiting: QueuedPayment[] = []
  const running = new Set<string>()
  const perPayer = new Map<Address, number>()
  const schedule = createDispatcher(options, waiting)

  const enter = (payment: ExactPayment, signal: AbortSignal) =>
    new Promise<SettleOutcome>((resolve) => {
      const stop = () => item.finish(leave(waiting, item))
      const item: QueuedPayment = {
        payment,
        signal,
        alone: !hasPlainSignature(payment),
        retried: false,
        transaction: undefined,
        gasGwei: 0n,
        finish: (outcome) => {
          signal.removeEventListener('abort', stop)
          resolve(outcome)
        },
      }
      signal.addEventListener('abort', stop, { once: true })
      waiting.push(item)
      schedule()
    })

  return {
    size: () => running.size,
    submit(payment, signal) {
      const { from, nonce } = payment.authorization
      const key = `${payment.asset} ${from} ${nonce}`
      if (running.has(key)) return Promise.resolve(duplicate)
      if (signal.aborted) return Promise.resolve(aborted)
      const ofPayer = perPayer.get(from) ?? 0
      if (running.size >= limits.waitingMax || ofPayer >= limits.perPayerMax) return Promise.resolve(busy)
      perPayer.set(from, ofPayer + 1)
      running.add(key)
      return enter(payment, signal).finally(() => {
        running.delete(key)
        const left = (perPayer.get(from) ?? 1) - 1
        if (left > 0) perPayer.set(from, left)
        else perPayer.delete(from)
      })
    },
  }
}

/** Payments that may share a transaction, in order of arrival; one that must go alone when it is its turn. */
function takeGroup(waiting: QueuedPayment[], batchMax: number): QueuedPayment[] {
  const first = waiting.shift() as QueuedPayment
  if (first.alone) return [first]
  const group = [first]
  for (let index = 0; index < waiting.length && group.length < batchMax; ) {
    const next = waiting[index] as QueuedPayment
    if (next.alone) index += 1
    else group.push(...waiting.splice(index, 1))
  }
  return group
}

/** The caller has given up. What still waits was never sent; anything else is for the chain to tell. */
function leave(waiting: QueuedPayment[], item: QueuedPayment): SettleOutcome {
  const index = waiting.indexOf(item)
  if (index < 0)
    return { status: 'unknown', reason: 'timeout', ...(item.transaction ? { transaction: item.transaction } : {}) }
  waiting.splice(index, 1)
  return { ...aborted, gasGwei: item.gasGwei }
}
