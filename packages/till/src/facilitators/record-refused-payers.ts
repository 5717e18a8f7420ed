import type { Facilitator } from '../contract/facilitator.ts'
import type { Log } from '../kernel/log.ts'
import type { RefusedPayers } from '../screening/index.ts'
import { isScreening } from './refusal-causes.ts'

/** What a facilitator says about a payer is remembered, so that its next payment is refused before a claim. */
export function recordRefusedPayers(facilitator: Facilitator, refused: RefusedPayers, log: Log): Facilitator {
  return {
    ...facilitator,
    async settle(payment, signal) {
      const outcome = await facilitator.settle(payment, signal)
      if (outcome.status === 'refused' && isScreening(outcome.reason))
        await refused
          .note(payment.payer, { source: facilitator.name, reason: outcome.reason })
          .catch((error: unknown) => log.warn({ error: String(error) }, 'a refused payer was not noted'))
      return outcome
    },
  }
}
