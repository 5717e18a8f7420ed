import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { creditRefundPurpose, payToRefundPurpose } from './credit-refund-purposes.ts'

export type PayoutPolicy = {
  /** Smaller debts accrue until they reach it. */
  minimumMicro: Micro
  /** Sent per chain and purpose in any 24 hours; what is above waits. A payout above all of it waits for a person. */
  dailyLimitMicro: Micro
  /** Purposes with a limit that differs from the general one. */
  dailyLimitsMicro: Readonly<Record<string, Micro>>
  /** A single payout above this waits for a person. */
  approvalMicro: Micro
  /** Payees in one transaction. */
  batchMax: number
  /** How long an authorization may be used; after that, unused, its money goes back. */
  validSeconds: number
}

const amount = z.string().transform((text, context) => {
  const micro = parseUsd(text)
  if (micro === undefined) context.addIssue({ code: 'custom', message: 'must be decimal USD' })
  return micro ?? 0n
})
const usd = (fallback: Micro) => amount.default(fallback)

const schema = z.strictObject({
  minimum_usd: usd(10_000_000n),
  daily_limit_usd: usd(10_000_000_000n),
  daily_limits_usd: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,30}$/), amount).default({}),
  approval_usd: usd(1_000_000_000n),
  batch_max: z.number().int().min(1).max(1_000).default(500),
  valid_seconds: z.number().int().min(60).max(604_800).default(86_400),
})

/** From the JSON of `PAYOUTS`. */
export function parsePayoutPolicy(given: unknown = {}): PayoutPolicy {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw new RangeError(
      parsed.error.issues.map((issue) => `PAYOUTS: ${issue.path.join('.')} ${issue.message}`).join('; '),
    )
  const { data } = parsed
  return {
    minimumMicro: data.minimum_usd,
    dailyLimitMicro: data.daily_limit_usd,
    dailyLimitsMicro: data.daily_limits_usd,
    approvalMicro: data.approval_usd,
    batchMax: data.batch_max,
    validSeconds: data.valid_seconds,
  }
}

export function dailyLimitOf(
  policy: Pick<PayoutPolicy, 'dailyLimitMicro' | 'dailyLimitsMicro'>,
  purpose: string,
): Micro {
  const asked = policy.dailyLimitsMicro
  const refunds = purpose === payToRefundPurpose ? asked[creditRefundPurpose] : undefined
  return asked[purpose] ?? refunds ?? policy.dailyLimitMicro
}
