import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'

/** What a facilitator may do to one settlement, by error or on purpose. */
export const facilitatorFaults = [
  'fails_before',
  'fails_after',
  'hangs_before',
  'hangs_after',
  'refuses',
  'refuses_after_sending',
  'claims_to_have_sent',
  'names_other_transaction',
  // New kinds go to the end: recorded runs name them by position.
  'settles_late',
  'refuses_and_settles_late',
  'settles_twice',
  'settles_for_another',
  'claims_foreign_transaction',
  'claims_reverted_transaction',
  'refuses_for_funds',
  'refuses_for_screening',
  'is_slow',
  'locks_us_out_and_settles_late',
] as const
export type FacilitatorFault = (typeof facilitatorFaults)[number]

export type Settled =
  | { status: 'submitted'; transaction: Hex; feeMicro: bigint }
  | { status: 'refused'; reason: string; payloadSent: boolean }
  | { status: 'unknown'; reason: string }

export type HostilePorts = {
  /** Taken from the front, one for each settlement. An empty list is an honest facilitator. */
  faults: FacilitatorFault[]
  /** Waits longer than any request. */
  hang(): Promise<void>
  /** Receives what is to be settled later. */
  late(settle: () => Promise<void>): void
  /** Waits, but not longer than a request. */
  pause?(): Promise<void>
  /** Mines a transaction that reverts. */
  sendReverting?(): Promise<Hex>
  randomHash?(): Hex
  /** Which fault a settlement gets. */
  onFault?(fault: FacilitatorFault | undefined): void
}

type Settle<Payment> = (payment: Payment, signal: AbortSignal) => Promise<Settled>

const randomHash = (): Hex => `0x${randomBytes(32).toString('hex')}`

/** A real settlement behind one that errs, stalls and lies as planned. */
export function hostileSettle<Payment>(real: Settle<Payment>, ports: HostilePorts): Settle<Payment> {
  /** Of another payment: the last one that was really sent. */
  let foreign: Hex | undefined
  let postponed: Payment | undefined
  const settle: Settle<Payment> = async (payment, signal) => {
    const outcome = await real(payment, signal)
    if (outcome.status === 'submitted') foreign = outcome.transaction
    return outcome
  }
  const later = (payment: Payment) => {
    postponed = payment
    ports.late(async () => {
      await settle(payment, new AbortController().signal)
    })
  }
  const submitted = (transaction = (ports.randomHash ?? randomHash)()): Settled => ({
    ...{ status: 'submitted', transaction, feeMicro: 0n },
  })
  const refused = (reason: string): Settled => ({ status: 'refused', reason, payloadSent: true })

  const act = async (fault: FacilitatorFault | undefined, ...call: Parameters<Settle<Payment>>): Promise<Settled> => {
    switch (fault) {
      case undefined:
        return settle(...call)
      case 'fails_before':
        throw new Error('socket hang up')
      case 'fails_after':
        await settle(...call)
        throw new Error('socket hang up')
      case 'hangs_before':
        await ports.hang()
        throw new Error('the connection was idle for too long')
      case 'hangs_after':
        await settle(...call)
        await ports.hang()
        throw new Error('the connection was idle for too long')
      case 'refuses':
        return refused('invalid_transaction_state')
      case 'refuses_after_sending':
        await settle(...call)
        return refused('invalid_transaction_state')
      case 'claims_to_have_sent':
        return submitted()
      case 'names_other_transaction':
        await settle(...call)
        return submitted()
      case 'settles_late':
        later(call[0])
        return { status: 'unknown', reason: 'settlement_pending' }
      case 'refuses_and_settles_late':
        later(call[0])
        return refused('insufficient_funds')
      case 'locks_us_out_and_settles_late':
        later(call[0])
        return refused('facilitator_unauthorized')
      case 'settles_twice':
        await settle(...call)
        return settle(...call)
      case 'settles_for_another': {
        const other = postponed
        return other === undefined ? submitted(foreign) : settle(other, call[1])
      }
      case 'claims_foreign_transaction':
        return submitted(foreign)
      case 'claims_reverted_transaction':
        return submitted(await ports.sendReverting?.())
      case 'refuses_for_funds':
        return refused('insufficient_funds')
      case 'refuses_for_screening':
        return refused('sanctions_screening')
      case 'is_slow':
        await ports.pause?.()
        return settle(...call)
    }
  }
  return (...call) => {
    const fault = ports.faults.shift()
    ports.onFault?.(fault)
    return act(fault, ...call)
  }
}
