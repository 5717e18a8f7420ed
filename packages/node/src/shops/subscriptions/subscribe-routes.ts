import { type Address, parseAddress } from '@assay/protocol/address'
import { decodeJson } from '@assay/protocol/json-object'
import { formatUsd } from '@assay/protocol/money'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import type { Sale } from '@assay/till'
import type { ReleaseAnswer } from '@assay/till/internal'
import type { TokenMaker } from '@assay/till/signing'
import type { Tx } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type Unavailable } from '../../http/index.ts'
import type { CoveredFeed } from '../ports.ts'
import type { ShopContext } from '../shop.ts'
import { grantPeriod, revokePeriod } from './grant-period.ts'
import { type SubscriptionPolicy, soldBy, type Tier, tiers } from './policy.ts'
import { chainOf, chainWord, exampleSubscription, showSubscription, subscriptionSchema } from './show-subscription.ts'
import { type StoredToken, storedToken, tokenOf } from './stored-token.ts'

export type SubscribeDeps = Pick<ShopContext, 'networks' | 'clock' | 'database'> & {
  policy: SubscriptionPolicy
  tokens: TokenMaker
  /** Why what it opens cannot be had. */
  unavailable(): Unavailable | undefined
  /** What it opens. */
  feeds(): readonly CoveredFeed[]
}

const output = z.strictObject({
  subscription: subscriptionSchema,
  token: z
    .string()
    .nullable()
    .describe('Send it as Authorization: Bearer. It can be given again, rotated and revoked.'),
  receipt: z.string().nullable().describe('The signed receipt of the payment (JWS).'),
})

type Chain = { word: string; network: string; prefix: string }

/** Where subscriptions are sold: the prefix of the path names the chain. */
const prefixes = new Map([
  ['base', ''],
  ['polygon', '/poly'],
])

/** Each tier on each of these chains. */
export function subscribeRoutes(deps: SubscribeDeps): RouteDeclaration[] {
  const chains = deps.networks.flatMap(({ caip2, name }): Chain[] => {
    const word = chainWord(name)
    const prefix = prefixes.get(word)
    return prefix === undefined ? [] : [{ word, network: caip2, prefix }]
  })
  return chains.flatMap((chain) => tiers.map((tier) => subscribeRoute(deps, chain, tier)))
}

function subscribeRoute(deps: SubscribeDeps, chain: Chain, tier: Tier): RouteDeclaration {
  const { policy, tokens } = deps
  const micro = policy.priceMicro[tier]
  return defineRoute({
    id: `subscriptions.${tier}.${chain.word}`,
    capability: `equity.subscription.${tier}.${chain.word}`,
    area: 'B',
    method: 'GET',
    path: `${chain.prefix}${soldBy(tier).path}`,
    ...(chain.prefix === '' ? {} : { twinOf: `subscriptions.${tier}.base` }),
    summary: `Subscribe to the ${tier} feeds for 30 days, paid on ${chain.word === 'base' ? 'Base' : 'Polygon'}`,
    description:
      'One subscription per wallet, whichever chain paid. Paying again extends it; standard time left when vip is ' +
      'bought becomes vip time of the same value. The token opens the feeds without paying per pull. ' +
      '/v1/subscriptions/plans tells the age and coverage of each.',
    output,
    example: {
      output: {
        subscription: { ...exampleSubscription, tier, chain: chain.word, price_usd: formatUsd(micro) },
        token: `asub_1_${'0'.repeat(52)}`,
        receipt: 'eyJ…',
      },
    },
    next: '/v1/subscriptions/plans',
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro },
      networks: [chain.network],
      payee: 'pay_to',
      revocable: true,
      consumption: { seconds: 30 * 86_400 },
      unavailable: () => deps.unavailable(),
      dataState: () => ({ feeds: [...deps.feeds()] }),
      prepare: async () => ({ answer: jsonAnswer({ subscription: null, token: null }), reservation: { tier } }),
      commit: (tx, sale) => commitPeriod(deps, tx, sale, tier),
      revoke: (tx, sale) => revokePeriod(tx, tokens, sale.paymentId, deps.clock.nowMs()),
      release: releaseToken(deps),
    },
  })
}

/** What is stored names the token by its versions; the token itself is made again each time it is given. */
async function commitPeriod(deps: SubscribeDeps, tx: Tx, sale: Sale, tier: Tier) {
  const { policy } = deps
  const subscription = await grantPeriod(
    tx,
    deps.tokens,
    {
      paymentId: sale.paymentId,
      round: sale.round,
      wallet: sale.payer,
      tier,
      network: sale.network,
      boughtAtMs: sale.settledAtMs,
      standardMicro: policy.priceMicro.standard,
      vipMicro: policy.priceMicro.vip,
    },
    sale.settledAtMs,
  )
  const paid = {
    chain: chainOf(deps, sale.network),
    provisional: sale.provisional,
    price_usd: formatUsd(sale.amountMicro),
  }
  return jsonAnswer({
    subscription: showSubscription(policy, subscription, paid),
    token: storedToken(subscription),
  })
}

type StoredAnswer = { subscription: { wallet: string }; token: StoredToken }

function releaseToken({ database, tokens }: Pick<SubscribeDeps, 'database' | 'tokens'>): ReleaseAnswer {
  return async (answer, paymentResponse) => {
    const stored = JSON.parse(Buffer.from(answer.body).toString('utf8')) as StoredAnswer
    const wallet = parseAddress(stored.subscription.wallet) as Address
    const token = await tokenOf(database, tokens, wallet, stored.token)
    return {
      ...answer,
      body: JSON.stringify({
        subscription: stored.subscription,
        token,
        receipt: receiptInHeaders(decodeJson(paymentResponse)) ?? null,
      }),
    }
  }
}
