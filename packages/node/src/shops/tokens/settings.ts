import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, type Variables } from '../../http/index.ts'

export const tokensVariables = {
  TOKENS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the token control shop: `report_price_usd` ("0.02") and `next_fork_at`, the time of a scheduled fork this release was not reviewed for, after which no token is called clean; docs/tokens.md.',
    secret: false,
  },
} as const satisfies Variables

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

/** From the JSON of `TOKENS`. */
export function parseSettings(given: unknown): TokensSettings {
  const { report_price_usd, next_fork_at } = parseMembers('TOKENS', schema, given)
  return {
    reportPriceMicro: parseUsd(report_price_usd) as Micro,
    nextUnreviewedForkAt: next_fork_at === undefined ? undefined : Math.floor(Date.parse(next_fork_at) / 1000),
  }
}
