import type { Facilitator, SettleOutcome } from '../contract/facilitator.ts'

/** What a facilitator may do to a seller. Each holds for the next settlement only, unless `works` is called first. */
export type FacilitatorFaults = {
  /** The money moves and the answer is lost. */
  failsAfterSettling(): void
  /** Nothing moves and the answer is lost. */
  failsBeforeSettling(): void
  /** Nothing moves, and it says so. */
  refuses(reason?: string): void
  /** Says that it settled, and did not. */
  lies(): void
  /** Nothing moves, and there is no answer until the till gives up waiting. */
  hangs(): void
  works(): void
}

type Fault = (settle: () => Promise<SettleOutcome>, signal: AbortSignal) => Promise<SettleOutcome>

export function createFacilitatorFaults() {
  let next: Fault | undefined
  const set = (fault: Fault | undefined) => {
    next = fault
  }
  const faults: FacilitatorFaults = {
    failsAfterSettling: () =>
      set(async (settle) => {
        await settle()
        return { status: 'unknown', reason: 'the answer was lost' }
      }),
    failsBeforeSettling: () => set(async () => ({ status: 'unknown', reason: 'the answer was lost' })),
    refuses: (reason = 'insufficient_funds') => set(async () => ({ status: 'refused', reason, payloadSent: false })),
    lies: () => set(async () => ({ status: 'submitted', transaction: `0x${'de'.repeat(32)}`, feeMicro: 0n })),
    hangs: () =>
      set(
        (_settle, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ status: 'unknown', reason: 'it did not answer' }))
          }),
      ),
    works: () => set(undefined),
  }
  const intercept = (facilitator: Facilitator): Facilitator => ({
    ...facilitator,
    settle: (payment, signal) => {
      const fault = next
      next = undefined
      const settle = () => facilitator.settle(payment, signal)
      return fault ? fault(settle, signal) : settle()
    },
  })
  return { faults, intercept }
}
