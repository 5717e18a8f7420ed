import type { ProvenAccount } from '@assay/protocol/account'
import { type Address, checksumAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { verifySiwx } from '@assay/till/proofs'
import { type TokenMaker, tokenHash } from '@assay/till/signing'
import { z } from 'zod'
import {
  type CallContext,
  defineRoute,
  jsonAnswer,
  signerOf as provenSigner,
  type RouteDeclaration,
} from '../../http/index.ts'
import type { CoveredFeed } from '../ports.ts'
import type { ShopContext } from '../shop.ts'
import { subscriptionOfProven } from './entitlement.ts'
import { readUsage } from './fair-use.ts'
import { revokeToken, rotateToken } from './grant-period.ts'
import { type Product, pathsOf, products, type SubscriptionPolicy, soldBy, tiers } from './policy.ts'
import { renewalDelegate } from './renew.ts'
import { findRenewal } from './renewal-store.ts'
import { renewalSchema, showRenewal } from './show-renewal.ts'
import { exampleSubscription, showSubscription, subscriptionSchema } from './show-subscription.ts'
import { findByToken, type Subscription } from './store.ts'
import { storedToken, tokenOf } from './stored-token.ts'
import { upgradePrice } from './upgrade.ts'

export type ManageDeps = Pick<
  ShopContext,
  'database' | 'clock' | 'proofs' | 'baseUrl' | 'payees' | 'base' | 'networks'
> & {
  policy: SubscriptionPolicy
  tokens: TokenMaker
  /** What a subscription opens, with age and coverage. */
  feeds(): readonly CoveredFeed[]
}

/** A wallet may hold both kinds; a token says by itself which one it is for. */
export const whichProduct = z.strictObject({
  product: z.enum(products).optional().describe('Which subscription of the wallet; feeds by default.'),
})

/** Without what only a purchase says. */
const { chain: _chain, provisional: _provisional, ...withoutPayment } = exampleSubscription
export const exampleStatus = withoutPayment

const fairUse = z.strictObject({ pulls_per_minute: z.number(), pulls_per_day: z.number() })

export function manageRoutes(deps: ManageDeps): RouteDeclaration[] {
  return [plansRoute(deps), statusRoute(deps), listRoute(deps), rotateRoute(deps), revokeRoute(deps)]
}

const coveredFeed = z.strictObject({
  feed: z.string(),
  as_of: z.string().nullable(),
  available_at: z.string().nullable().describe('When the newest data became public.'),
  coverage_pct: z.number().nullable(),
  missing: z.array(z.string()).describe('Sources of it that are not held or late.'),
  not_available: z.string().nullable().describe('Why it is not for sale now.'),
})

const exampleFeed: CoveredFeed = {
  feed: 'ftd',
  as_of: '2026-10-30',
  available_at: '2026-11-17T01:00:00.000Z',
  coverage_pct: 97.5,
  missing: ['nasdaq-directory'],
  not_available: null,
}

function plansRoute(deps: ManageDeps): RouteDeclaration {
  const { policy, feeds } = deps
  const plan = z.strictObject({
    tier: z.enum(['standard', 'vip']),
    price_usd: z.string(),
    price_micro: z.string(),
    days: z.number(),
    base: z.string(),
    polygon: z.string(),
    covers: z.array(z.string()).describe('Ids of the routes it opens; * stands for any part.'),
  })
  const answer = {
    data: tiers.map((tier) => ({
      tier,
      price_usd: formatUsd(policy.priceMicro[tier]),
      price_micro: policy.priceMicro[tier].toString(),
      days: 30,
      ...pathsOf(tier),
      covers: [...policy.covers[tier]],
    })),
    next_cursor: null,
    fair_use: { pulls_per_minute: policy.fairUse.perMinute, pulls_per_day: policy.fairUse.perDay },
    renewal: { delegate: checksumAddress(renewalDelegate(deps)), routes: tiers.map((tier) => soldBy(tier).id) },
  }
  return defineRoute({
    id: 'subscriptions.plans',
    main: true,
    capability: 'equity.subscription.plans',
    area: 'B',
    method: 'GET',
    path: '/v1/subscriptions/plans',
    summary: 'What subscriptions cost, what they open, and the fair-use limits',
    description: 'With the age, the coverage and what is missing of each feed that they open.',
    output: z.strictObject({
      data: z.array(plan),
      feeds: z.array(coveredFeed),
      next_cursor: z.null(),
      fair_use: fairUse,
      renewal: z
        .strictObject({ delegate: z.string(), routes: z.array(z.string()) })
        .describe('What a mandate for renewals from credit names.'),
    }),
    example: { output: { ...answer, feeds: [exampleFeed] } },
    next: soldBy('standard').path,
    cacheSeconds: 5,
    access: { kind: 'free', handle: async () => jsonAnswer({ ...answer, feeds: feeds() }) },
  })
}

function statusRoute(deps: ManageDeps): RouteDeclaration {
  return defineRoute({
    id: 'subscriptions.status',
    capability: 'equity.subscription.status',
    area: 'B',
    method: 'GET',
    path: '/v1/subscriptions',
    summary: 'The subscription behind a token or a signed challenge',
    query: whichProduct,
    output: z.strictObject({
      subscription: subscriptionSchema,
      active: z.boolean(),
      used: z.strictObject({ this_minute: z.number(), today: z.number() }),
      fair_use: fairUse,
    }),
    example: {
      output: {
        subscription: exampleStatus,
        active: true,
        used: { this_minute: 1, today: 20 },
        fair_use: { pulls_per_minute: 120, pulls_per_day: 20_000 },
      },
    },
    next: '/v1/subscriptions/plans',
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async (input, call) => {
        const subscription = await subscriptionOfCall(deps, call, input.query.product)
        const nowMs = deps.clock.nowMs()
        const used = await readUsage(deps.database, subscription.wallet, nowMs)
        return jsonAnswer({
          subscription: showSubscription(deps.policy, subscription),
          active: isActive(subscription, nowMs),
          used: { this_minute: used.minute, today: used.day },
          fair_use: { pulls_per_minute: deps.policy.fairUse.perMinute, pulls_per_day: deps.policy.fairUse.perDay },
        })
      },
    },
  })
}

const listed = z.strictObject({
  product: z.enum(products).describe('feeds: a tier of the market data; stream: the intent stream.'),
  subscription: subscriptionSchema,
  active: z.boolean(),
  ends_in_days: z.number().describe('Whole days left; 0 once it has ended.'),
  used_today: z.number().nullable().describe('Pulls of today; null for what is not counted.'),
  covers: z.array(z.string()).describe('Ids of the routes it opens; * stands for any part.'),
  renew_at: z.string().describe('Path that sells the next period.'),
  renewal: renewalSchema,
  upgrade_price_micro: z
    .string()
    .nullable()
    .describe('What vip for the rest of it costs now; null where it is no standard one.'),
})

function listRoute(deps: ManageDeps): RouteDeclaration {
  return defineRoute({
    id: 'subscriptions.list',
    capability: 'equity.subscription.list',
    area: 'B',
    method: 'GET',
    path: '/v1/subscriptions/list',
    summary: 'All subscriptions of a wallet: feed tiers and the intent stream',
    description:
      'A signed challenge, or a signed request, lists everything the wallet has, ended ones included; a token lists the one it belongs to. A wallet without any has an empty list.',
    output: z.strictObject({ data: z.array(listed), fair_use: fairUse, next_cursor: z.null() }),
    example: {
      output: {
        data: [
          {
            product: 'feeds',
            subscription: exampleStatus,
            active: true,
            ends_in_days: 29,
            used_today: 20,
            covers: ['matrix.live'],
            renew_at: soldBy('standard').path,
            renewal: null,
            upgrade_price_micro: '725000000',
          },
        ],
        fair_use: { pulls_per_minute: 120, pulls_per_day: 20_000 },
        next_cursor: null,
      },
    },
    next: '/v1/subscriptions/plans',
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async (_, call) => {
        const nowMs = deps.clock.nowMs()
        const found = await subscriptionsOfCall(deps, call)
        const data = await Promise.all(
          found.map(async (one) => ({
            product: one.product,
            subscription: showSubscription(deps.policy, one),
            active: isActive(one, nowMs),
            ends_in_days: Math.max(0, Math.floor((one.untilMs - nowMs) / 86_400_000)),
            used_today: one.product === 'feeds' ? (await readUsage(deps.database, one.wallet, nowMs)).day : null,
            covers: [...deps.policy.covers[one.tier]],
            renew_at: soldBy(one.tier).path,
            renewal: showRenewal(await findRenewal(deps.database, one.wallet, one.product)),
            upgrade_price_micro:
              one.tier === 'standard' && isActive(one, nowMs) ? upgradePrice(deps.policy, one, nowMs).toString() : null,
          })),
        )
        const { perMinute, perDay } = deps.policy.fairUse
        return jsonAnswer({
          data,
          fair_use: { pulls_per_minute: perMinute, pulls_per_day: perDay },
          next_cursor: null,
        })
      },
    },
  })
}

function rotateRoute(deps: ManageDeps): RouteDeclaration {
  return defineRoute({
    id: 'subscriptions.rotate',
    capability: 'equity.subscription.rotate',
    area: 'B',
    method: 'POST',
    path: '/v1/subscriptions/rotate',
    summary: 'A new token for the subscription of the signing wallet; the old one ends at once',
    description: 'The request is signed by the wallet (ERC-8128), so that nobody else can take its token away.',
    query: whichProduct,
    output: z.strictObject({ subscription: subscriptionSchema, token: z.string() }),
    example: {
      output: { subscription: exampleStatus, token: `asub_1_${'0'.repeat(52)}` },
    },
    next: '/v1/subscriptions/plans',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const { wallet, product } = await subscriptionOfSigner(deps, call, input.query.product)
        const rotated = await deps.database.transaction((tx) =>
          rotateToken(tx, deps.tokens, wallet, deps.clock.nowMs(), product),
        )
        if (!rotated) throw noSubscription()
        const token = await tokenOf(deps.database, deps.tokens, wallet, storedToken(rotated), product)
        return jsonAnswer({ subscription: showSubscription(deps.policy, rotated), token })
      },
    },
  })
}

function revokeRoute(deps: ManageDeps): RouteDeclaration {
  return defineRoute({
    id: 'subscriptions.revoke',
    capability: 'equity.subscription.revoke',
    area: 'B',
    method: 'POST',
    path: '/v1/subscriptions/revoke',
    summary: 'End the token of the signing wallet; the subscription itself goes on',
    query: whichProduct,
    output: z.strictObject({ subscription: subscriptionSchema, token: z.null() }),
    example: { output: { subscription: exampleStatus, token: null } },
    next: '/v1/subscriptions/rotate',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const { wallet, product } = await subscriptionOfSigner(deps, call, input.query.product)
        const revoked = await deps.database.transaction((tx) => revokeToken(tx, wallet, deps.clock.nowMs(), product))
        if (!revoked) throw noSubscription()
        return jsonAnswer({ subscription: showSubscription(deps.policy, revoked), token: null })
      },
    },
  })
}

async function subscriptionOfCall(
  deps: ManageDeps,
  call: CallContext,
  product: Product | undefined,
): Promise<Subscription> {
  return (await byToken(deps, call)) ?? requireSubscription(deps, await signedIn(deps, call), product)
}

async function subscriptionsOfCall(deps: ManageDeps, call: CallContext): Promise<Subscription[]> {
  const own = await byToken(deps, call)
  if (own) return [own]
  const proven = await signedIn(deps, call)
  const found = await Promise.all(products.map((product) => subscriptionOfProven(deps, proven, product)))
  return found.filter((one) => one !== undefined)
}

async function byToken(deps: ManageDeps, call: CallContext): Promise<Subscription | undefined> {
  const token = /^Bearer (asub_\S+)$/i.exec(call.headers.get('authorization') ?? '')?.[1]
  if (token === undefined) return undefined
  const found = await findByToken(deps.database, tokenHash(token))
  if (found === undefined || found === 'ended')
    throw new Problem('proof_invalid', { detail: 'This token is not valid. It is unknown, expired or revoked.' })
  return found
}

function signedIn(deps: ManageDeps, call: CallContext): Promise<ProvenAccount> {
  const header = call.headers.get('sign-in-with-x')
  if (header === undefined && call.headers.has('signature-input')) return provenSigner(deps, call)
  if (header === undefined)
    throw new Problem('proof_required', {
      detail: 'Send the token, a signed challenge in SIGN-IN-WITH-X, or sign the request (ERC-8128).',
    })
  return verifySiwx(deps.proofs, header, deps.baseUrl)
}

export async function subscriptionOfSigner(
  deps: ManageDeps,
  call: CallContext,
  product: Product | undefined,
): Promise<Subscription> {
  return requireSubscription(deps, await provenSigner(deps, call), product)
}

/** The signing wallet, and where credit is certainly its own. */
export async function signerOf(deps: ManageDeps, call: CallContext): Promise<{ wallet: Address; networks: string[] }> {
  const proven = await provenSigner(deps, call)
  const { wallet } = await requireSubscription(deps, proven, 'feeds')
  const networks = proven.kind === 'contract' ? [`eip155:${proven.chainId}`] : deps.networks.map(({ caip2 }) => caip2)
  return { wallet, networks }
}

async function requireSubscription(
  deps: ManageDeps,
  proven: ProvenAccount,
  product: Product | undefined,
): Promise<Subscription> {
  const subscription = await subscriptionOfProven(deps, proven, product)
  if (!subscription) throw noSubscription()
  return subscription
}

export const noSubscription = () => new Problem('not_found', { detail: 'This wallet has no subscription.' })

const isActive = ({ untilMs, pausedAtMs }: Subscription, nowMs: number) => untilMs > nowMs && pausedAtMs === null
