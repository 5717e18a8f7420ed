import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'

export type TokensSettings = {
  reportPriceMicro: Micro
  /** Seconds since 1970 of the first scheduled fork this release was not reviewed for. */
  nextUnreviewedForkAt: number | undefined
}

const schema = z.strictObject({
  report_price_usd: z
    .string()
    .refine((text) => (parseUsd(text) ?? 0n) > 0n, 'must be decimal USD above zero')
    .default('0.02'),
  next_fork_at: z.iso.datetime().optional(),
})

/** TOKENS of the configuration. Throws with every problem named. */
export function parseSettings(given: Record<string, unknown>): TokensSettings {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw new Error(
      `TOKENS: ${parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`.trim()).join('; ')}`,
    )
  const { report_price_usd, next_fork_at } = parsed.data
  return {
    reportPriceMicro: parseUsd(report_price_usd) as Micro,
    nextUnreviewedForkAt: next_fork_at === undefined ? undefined : Math.floor(Date.parse(next_fork_at) / 1000),
  }
}
