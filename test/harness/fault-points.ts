import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { around, type CallPlan, interceptPorts, type When } from './port-calls.ts'

/** Lets one port call of the life of a payment fail, before its work or after it. */
export type FaultPoints = {
  intercept: Interceptors
  /** From now on calls made on behalf of a payment count; the one planned fails. */
  plan(at: number, when: When): void
  stop(): readonly string[]
  /** From now on any call may fail, as `strike` decides for each; undefined ends it. */
  injectFaults(strike: (() => When | undefined) | undefined): void
}

/** Jobs, leases and listeners go on by themselves and are not part of a payment. */
const background = /job_lease|payment_owner|pause|keyring|settlement_wallet|nonce_claim|ledger_seal/

export function createFaultPoints(): FaultPoints {
  let calls: string[] | undefined
  let planned: CallPlan | undefined
  let strike: (() => When | undefined) | undefined
  const whenOf = (name: string): When | undefined => {
    if (strike) return strike()
    calls?.push(name)
    return calls && planned?.at === calls.length ? planned.when : undefined
  }
  return {
    plan: (at, when) => {
      calls = []
      planned = { at, when }
    },
    stop: () => {
      const seen = calls ?? []
      calls = undefined
      planned = undefined
      return seen
    },
    injectFaults: (given) => {
      strike = given
    },
    intercept: interceptPorts(
      (name, work, failure) =>
        around(whenOf(name), work, () => {
          throw failure()
        }),
      (text) => background.test(text),
    ),
  }
}
