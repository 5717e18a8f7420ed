import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import type { Renewal } from './renewal-store.ts'

export const renewalSchema = z
  .strictObject({
    on: z.boolean(),
    tier: z.string(),
    mandate: z.string(),
    max_price_micro: z.string().describe('Not renewed at a higher price.'),
    next_at: z.string().nullable().describe('When it is tried next; the last day of what is paid for.'),
    problem: z.string().nullable().describe('Why the last attempt failed, or why it ended.'),
  })
  .nullable()

export const showRenewal = (renewal: Renewal | undefined): z.infer<typeof renewalSchema> =>
  renewal === undefined
    ? null
    : {
        on: renewal.state === 'on',
        tier: renewal.tier,
        mandate: renewal.mandateId,
        max_price_micro: renewal.priceMaxMicro.toString(),
        next_at: renewal.state === 'on' ? toRfc3339(renewal.nextAtMs) : null,
        problem: renewal.problem,
      }
