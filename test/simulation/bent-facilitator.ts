import { toHex } from '../../packages/node/src/kernel/bytes.ts'
import type { Clock } from '../../packages/node/src/kernel/clock.ts'
import type { Rng } from '../../packages/node/src/kernel/random.ts'
import type { Facilitator } from '../../packages/node/src/payments/index.ts'
import type { FaultPlan } from './fault-plan.ts'

/** The production facilitator, behind somebody who errs, stalls and lies as planned. */
export function bendFacilitator(real: Facilitator, plan: FaultPlan, ports: { clock: Clock; rng: Rng }): Facilitator {
  const hang = async (): Promise<never> => {
    await ports.clock.sleep(120_000)
    throw new Error('the connection was idle for too long')
  }
  const anyHash = () => toHex(ports.rng.bytes(32))
  return {
    ...real,
    settle: async (payment, signal) => {
      switch (plan.facilitator.shift()) {
        case undefined:
          return real.settle(payment, signal)
        case 'fails_before':
          throw new Error('socket hang up')
        case 'fails_after':
          await real.settle(payment, signal)
          throw new Error('socket hang up')
        case 'hangs_before':
          return hang()
        case 'hangs_after':
          await real.settle(payment, signal)
          return hang()
        case 'refuses':
          return { status: 'refused', reason: 'invalid_transaction_state', payloadLeft: true }
        case 'refuses_after_sending':
          await real.settle(payment, signal)
          return { status: 'refused', reason: 'invalid_transaction_state', payloadLeft: true }
        case 'claims_to_have_sent':
          return { status: 'submitted', transaction: anyHash(), feeMicro: 0n }
        case 'names_other_transaction':
          await real.settle(payment, signal)
          return { status: 'submitted', transaction: anyHash(), feeMicro: 0n }
      }
    },
  }
}
