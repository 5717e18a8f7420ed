import { type Address, parseAddress } from '@assay/protocol/address'
import { walletParams } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { type RewardsPolicy, tierNames } from './policy.ts'
import { affiliateRule, affiliateSalesMax, readAffiliate } from './read-affiliate.ts'
import { readLoyalty } from './read-loyalty.ts'

export type StatusDeps = Pick<ShopContext, 'database' | 'baseUrl' | 'assets'> & { policy: RewardsPolicy }

const exampleWallet = '0x1111111111111111111111111111111111111111'
const micro = z.string().describe('micro-USDC')

const loyaltyOutput = z.strictObject({
  wallet: z.string(),
  points: z.string(),
  pending_points: z.string().describe('Of these, points whose payment is not final yet.'),
  tier: z.enum(tierNames),
  points_per_usd: z.string(),
  spent_usd: z.string(),
  spent_micro: micro,
  sales: z.number(),
  next_tier: z.strictObject({ name: z.string(), needs_usd: z.string(), points_per_usd: z.string() }).nullable(),
  referral: z.strictObject({
    link: z.string(),
    referred: z.number(),
    visits: z.number(),
    referred_by: z.strictObject({ wallet: z.string(), status: z.string(), reason: z.string().nullable() }).nullable(),
  }),
  affiliate: z
    .strictObject({ wallet: z.string().nullable(), ignored_reason: z.string().nullable() })
    .nullable()
    .describe('Who brought this wallet last, and why another one that was named does not count.'),
  redeemable: z.array(z.strictObject({ reward: z.string(), what: z.string(), points: z.string(), calls: z.number() })),
  history: z.array(z.strictObject({ at: z.string(), what: z.string(), points: z.string() })),
})

export function statusRoutes(deps: StatusDeps): RouteDeclaration[] {
  return [loyaltyRoute(deps), affiliateRoute(deps)]
}

function loyaltyRoute({ database, baseUrl, policy }: StatusDeps): RouteDeclaration {
  return defineRoute({
    id: 'rewards.loyalty',
    mcp: 'none',
    main: true,
    area: 'B',
    method: 'GET',
    path: '/loyalty/:wallet',
    summary: 'Points, tier and referral link of a wallet, and what it can redeem',
    params: walletParams,
    output: loyaltyOutput,
    example: {
      params: { wallet: exampleWallet },
      output: {
        wallet: exampleWallet,
        points: '1000',
        pending_points: '0',
        tier: 'BRONZE',
        points_per_usd: '2000',
        spent_usd: '0.5',
        spent_micro: '500000',
        sales: 10,
        next_tier: { name: 'SILVER', needs_usd: '4.5', points_per_usd: '2500' },
        referral: { link: `https://node.example/?ref=${exampleWallet}`, referred: 0, visits: 0, referred_by: null },
        affiliate: null,
        redeemable: [{ reward: 'pull', what: 'one call of up to 0.05 USD', points: '1000', calls: 1 }],
        history: [{ at: '2026-01-01T00:00:00.000Z', what: 'points', points: '100' }],
      },
    },
    next: '/redeem/info',
    access: {
      kind: 'free',
      handle: async (input) =>
        jsonAnswer(await readLoyalty({ sql: database, policy, baseUrl }, parseAddress(input.params.wallet) as Address)),
    },
  })
}

const payoutView = z.strictObject({
  id: z.string(),
  network: z.string(),
  amount_micro: micro,
  state: z.string(),
  waits_for: z.enum(['approval', 'daily_limit', 'operator_funds']).nullable(),
  transaction: z.string().nullable(),
  created_at: z.string(),
  paid_at: z.string().nullable(),
})

const affiliateOutput = z.strictObject({
  wallet: z.string(),
  rate: z.number(),
  rate_of: z.string().describe('What the rate is a part of, and where it ends.'),
  earned_micro: micro,
  pending_micro: micro,
  payable_micro: micro,
  paid_micro: micro,
  owed_back_micro: micro.describe('Paid out before its sale was reversed; set off against what comes next.'),
  earned_usd: z.string(),
  sales: z.number().describe(`Those that were not reversed; ${affiliateSalesMax} stands for as many or more.`),
  link: z.string(),
  chains: z.array(
    z.strictObject({
      network: z.string(),
      earned_micro: micro,
      pending_micro: micro,
      payable_micro: micro,
      paid_micro: micro,
    }),
  ),
  payouts: z.array(payoutView),
})

function affiliateRoute({ database, baseUrl, policy, assets }: StatusDeps): RouteDeclaration {
  const zero = '0'
  const networks = assets.map(({ caip2 }) => caip2)
  return defineRoute({
    id: 'rewards.affiliate',
    mcp: 'none',
    main: true,
    area: 'B',
    method: 'GET',
    path: '/affiliate/:wallet',
    summary: 'What an affiliate earned, what is pending, payable and paid, with transactions',
    params: walletParams,
    output: affiliateOutput,
    example: {
      params: { wallet: exampleWallet },
      output: {
        wallet: exampleWallet,
        rate: 0.15,
        rate_of: affiliateRule,
        earned_micro: '37500000',
        pending_micro: '37500000',
        payable_micro: zero,
        paid_micro: zero,
        owed_back_micro: zero,
        earned_usd: '37.5',
        sales: 1,
        link: `https://node.example/?aff=${exampleWallet}`,
        chains: [
          {
            network: 'eip155:8453',
            earned_micro: '37500000',
            pending_micro: '37500000',
            payable_micro: zero,
            paid_micro: zero,
          },
        ],
        payouts: [],
      },
    },
    next: '/loyalty/:wallet',
    access: {
      kind: 'free',
      handle: async (input) =>
        jsonAnswer(
          await readAffiliate(
            { sql: database, policy, baseUrl, networks },
            parseAddress(input.params.wallet) as Address,
          ),
        ),
    },
  })
}
