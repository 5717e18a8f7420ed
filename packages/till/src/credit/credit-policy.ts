import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'

export type CreditPolicy = {
  /** Kept from each refund, because the node pays for the transfer. */
  refundCostMicro: Micro
  /** Between the request to release a bond and the money, while it can still be slashed by a ruling. */
  bondReleaseSeconds: number
}

const schema = z.strictObject({
  refund_cost_usd: z
    .string()
    .transform((text, context) => {
      const micro = parseUsd(text)
      if (micro === undefined) context.addIssue({ code: 'custom', message: 'must be decimal USD' })
      return micro ?? 0n
    })
    .default(10_000n),
  bond_release_hours: z.number().min(0).max(8_760).default(168),
})

/** From the JSON of `CREDIT`; what is left out has its published default. */
export function parseCreditPolicy(given: unknown = {}): CreditPolicy {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw new RangeError(
      parsed.error.issues.map((issue) => `CREDIT: ${issue.path.join('.')} ${issue.message}`).join('; '),
    )
  const { refund_cost_usd: refundCostMicro, bond_release_hours: hours } = parsed.data
  return { refundCostMicro, bondReleaseSeconds: Math.round(hours * 3_600) }
}
