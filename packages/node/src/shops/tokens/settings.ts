import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, type Variables } from '../shop-settings.ts'

export const tokensVariables = {
  TOKENS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the token control shop: `report_price_usd` ("0.02") and `next_fork_at`, the time of a scheduled fork this release was not reviewed for, after which no token is called clean; `index_requests_per_minute` (10), `index_logs_max` (5000000) and `verdicts_per_minute` (6) bound the background index; docs/tokens.md.',
    secret: false,
  },
} as const satisfies Variables

export type TokensSettings = {
  reportPriceMicro: Micro
  /** Seconds since 1970 of the first scheduled fork this release was not reviewed for. */
  nextUnreviewedForkAt: number | undefined
  /** Searches of logs a minute, logs kept in all, tokens read again a minute; 0 requests: no index. */
  index: { requestsPerMinute: number; logsMax: number; verdictsPerMinute: number }
}

const schema = z.strictObject({
  report_price_usd: z
    .string()
    .refine((text) => (parseUsd(text) ?? 0n) > 0n, 'must be decimal USD above zero')
    .default('0.02'),
  next_fork_at: z.iso.datetime().optional(),
  index_requests_per_minute: z.int().min(0).max(600).default(10),
  index_logs_max: z.int().min(1_000).max(1_000_000_000).default(5_000_000),
  verdicts_per_minute: z.int().min(0).max(600).default(6),
})

/** From the JSON of `TOKENS`. */
export function parseSettings(given: unknown): TokensSettings {
  const { report_price_usd, next_fork_at, ...rest } = parseMembers('TOKENS', schema, given)
  return {
    reportPriceMicro: parseUsd(report_price_usd) as Micro,
    nextUnreviewedForkAt: next_fork_at === undefined ? undefined : Math.floor(Date.parse(next_fork_at) / 1000),
    index: {
      requestsPerMinute: rest.index_requests_per_minute,
      logsMax: rest.index_logs_max,
      verdictsPerMinute: rest.verdicts_per_minute,
    },
  }
}
