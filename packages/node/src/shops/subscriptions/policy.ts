import type { Micro } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, usdAboveZero } from '../shop-settings.ts'

export type Tier = 'standard' | 'vip'
export const tiers: readonly Tier[] = ['standard', 'vip']

/** Kinds of subscription a wallet may hold side by side, each with a term and its own token. */
export const products = ['feeds', 'stream'] as const
export type Product = (typeof products)[number]
/** The stream has one tier. */
export type AnyTier = Tier | 'stream'
const allTiers: readonly AnyTier[] = [...tiers, 'stream']

/** A period is 30 x 24 hours wherever months begin or end. */
export const periodMs = 30 * 24 * 3_600_000

export type SubscriptionPolicy = {
  priceMicro: Record<AnyTier, Micro>
  fairUse: { perMinute: number; perDay: number }
  /** Route ids each tier may use without paying; `*` stands for any part. */
  covers: Record<AnyTier, readonly string[]>
}

/** The one route that a subscription to the stream opens, and the one that sells it. */
export const streamRouteId = 'market.intents.stream'
export const streamPath = '/v1/market/intent-stream'

const livePulls = ['matrix.live', 'matrix.*.live', 'matrix.live.*']
const vipPulls = ['matrix.vip', 'matrix.*.vip', 'matrix.vip.*']

const schema = z
  .strictObject({
    standard_usd: usdAboveZero.default(250_000_000n),
    vip_usd: usdAboveZero.default(1_000_000_000n),
    stream_usd: usdAboveZero.default(5_000_000_000n),
    pulls_per_minute: z.number().int().min(1).max(100_000).default(120),
    pulls_per_day: z.number().int().min(1).max(10_000_000).default(20_000),
    covers_standard: z.array(z.string()).default(livePulls),
    covers_vip: z.array(z.string()).default([...livePulls, ...vipPulls]),
  })
  .refine((given) => given.vip_usd >= given.standard_usd, 'vip_usd must not be below standard_usd')

/** From the JSON of `SUBSCRIPTIONS`; what is left out has its published default. */
export function parseSubscriptionPolicy(given: unknown = {}): SubscriptionPolicy {
  const data = parseMembers('SUBSCRIPTIONS', schema, given)
  return {
    priceMicro: { standard: data.standard_usd, vip: data.vip_usd, stream: data.stream_usd },
    fairUse: { perMinute: data.pulls_per_minute, perDay: data.pulls_per_day },
    covers: { standard: data.covers_standard, vip: data.covers_vip, stream: [streamRouteId] },
  }
}

/** Which kind of subscription a route asks for. */
export const productOf = (routeId: string): Product => (routeId === streamRouteId ? 'stream' : 'feeds')

/** The route that sells a tier, as a mandate names it. */
export const soldBy = (tier: AnyTier): { id: string; path: string } =>
  tier === 'stream'
    ? { id: streamRouteId, path: streamPath }
    : { id: `subscriptions.${tier}.base`, path: `/matrix/subscribe/${tier}` }

/** Where a tier is bought, by the chain that the buyer pays on; the stream is sold on Base only. */
export const pathsOf = (tier: AnyTier): { base: string; polygon?: string } => {
  const base = soldBy(tier).path
  return tier === 'stream' ? { base } : { base, polygon: `/poly${base}` }
}

/** Which tiers open a route, the cheapest first. */
export function tiersCovering(policy: SubscriptionPolicy, routeId: string): AnyTier[] {
  return allTiers.filter((tier) => policy.covers[tier].some((pattern) => matches(pattern, routeId)))
}

function matches(pattern: string, routeId: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`).test(routeId)
}
