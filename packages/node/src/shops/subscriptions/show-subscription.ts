import { checksumAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import type { SubscriptionPolicy } from './policy.ts'
import type { Subscription } from './store.ts'

export const subscriptionSchema = z.strictObject({
  tier: z.enum(['standard', 'vip', 'stream']),
  chain: z.string().optional().describe('The chain this period was paid on.'),
  price_usd: z.string(),
  asset: z.literal('USDC'),
  wallet: z.string(),
  from_at: z.string(),
  until_at: z.string(),
  extended_seconds: z
    .number()
    .optional()
    .describe('Time given back because part of what is covered could not be had; contained in until_at.'),
  paused_at: z.string().optional().describe('Paused since then: it opens nothing, and its time does not run.'),
  provisional: z.boolean().optional().describe('True until the payment is final on its chain; a reorg takes it back.'),
})

export type SubscriptionView = z.infer<typeof subscriptionSchema>

export const exampleSubscription: SubscriptionView = {
  tier: 'standard',
  chain: 'base',
  price_usd: '250',
  asset: 'USDC',
  wallet: '0x1111111111111111111111111111111111111111',
  from_at: '2026-01-01T00:00:00.000Z',
  until_at: '2026-01-31T00:00:00.000Z',
  provisional: true,
}

/** The word for the chain that a sale was paid on: credit may be drawn on another than the route is sold on. */
export function chainOf(
  { networks }: { networks: readonly { caip2: string; name: string }[] },
  network: string,
): string {
  return chainWord(networks.find(({ caip2 }) => caip2 === network)?.name ?? network)
}

/** A test network is shown under the name of its main network. */
export const chainWord = (name: string): string => name.replace(/-(?:sepolia|amoy)$/, '')

export function showSubscription(
  policy: SubscriptionPolicy,
  { tier, wallet, fromMs, untilMs, extendedMs, pausedAtMs }: Subscription,
  paid: Pick<SubscriptionView, 'chain' | 'provisional'> & { price_usd?: string } = {},
): SubscriptionView {
  return {
    tier,
    ...(paid.chain === undefined ? {} : { chain: paid.chain }),
    price_usd: paid.price_usd ?? formatUsd(policy.priceMicro[tier]),
    asset: 'USDC',
    wallet: checksumAddress(wallet),
    from_at: toRfc3339(fromMs),
    until_at: toRfc3339(untilMs),
    ...(extendedMs > 0 ? { extended_seconds: Math.floor(extendedMs / 1000) } : {}),
    ...(pausedAtMs === null ? {} : { paused_at: toRfc3339(pausedAtMs) }),
    ...(paid.provisional === undefined ? {} : { provisional: paid.provisional }),
  }
}
