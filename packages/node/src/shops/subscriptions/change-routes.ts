import { parseMicro } from '@assay/protocol/money'
import type { Tx } from '@assay/till/store/database'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import {
  exampleStatus,
  type ManageDeps,
  noSubscription,
  signerOf,
  subscriptionOfSigner,
  whichProduct,
} from './manage-routes.ts'
import { pauseSubscription, resumeSubscription } from './pause.ts'
import type { Product } from './policy.ts'
import { type RenewDeps, turnOff, turnOn } from './renew.ts'
import { findRenewal } from './renewal-store.ts'
import { renewalSchema, showRenewal } from './show-renewal.ts'
import { showSubscription, subscriptionSchema } from './show-subscription.ts'
import { findSubscription, type Subscription } from './store.ts'
import { upgrade } from './upgrade.ts'

export type ChangeDeps = ManageDeps & RenewDeps

const output = z.strictObject({ subscription: subscriptionSchema, renewal: renewalSchema })
const micro = z.string().regex(/^[1-9][0-9]{0,17}$/, 'must be micro-USDC above zero, at most 18 digits')

/** What a wallet changes about its subscription; each request is signed by it (ERC-8128). */
export function changeRoutes(deps: ChangeDeps): RouteDeclaration[] {
  return [renewalRoute(deps), cancelRoute(deps), pauseRoute(deps), resumeRoute(deps), upgradeRoute(deps)]
}

const common = (word: string) => ({
  id: `subscriptions.${word}`,
  capability: `equity.subscription.${word}`,
  area: 'B' as const,
  method: 'POST' as const,
  path: `/v1/subscriptions/${word}`,
  next: '/v1/subscriptions/list',
})

type Change = (tx: Tx, found: Subscription) => Promise<unknown>

/** Runs a change for the subscription of the signer and answers with what it is then. */
async function changed(deps: ChangeDeps, call: CallContext, product: Product | undefined, change: Change) {
  const found = await subscriptionOfSigner(deps, call, product)
  await deps.database.transaction((tx) => change(tx, found))
  return show(deps, found)
}

async function show(deps: ChangeDeps, { wallet, product }: Subscription) {
  const now = await findSubscription(deps.database, wallet, product)
  if (!now) throw noSubscription()
  return jsonAnswer({
    subscription: showSubscription(deps.policy, now),
    renewal: showRenewal(await findRenewal(deps.database, wallet, product)),
  })
}

function renewalRoute(deps: ChangeDeps): RouteDeclaration {
  const mandate = `mdt_${'0'.repeat(40)}`
  return defineRoute({
    ...common('renewal'),
    summary: 'Renew from credit, under a mandate of the signing wallet',
    description:
      'The mandate names the delegate of GET /v1/subscriptions/plans and the route that sells the tier. On the last day of what is paid for, one period is drawn from the credit of the wallet; an attempt that fails is made again every hour, up to three days after the end.',
    query: whichProduct,
    body: z.strictObject({
      mandate: z.string().regex(/^mdt_[0-9a-f]{40}$/, 'must be the id of a mandate'),
      max_price_micro: micro.optional().describe('Default: the price of today.'),
    }),
    output,
    example: {
      body: { mandate },
      output: {
        subscription: exampleStatus,
        renewal: {
          on: true,
          tier: 'standard',
          mandate,
          max_price_micro: '250000000',
          next_at: '2026-01-30T00:00:00.000Z',
          problem: null,
        },
      },
    },
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: (input, call) => {
        const { mandate: mandateId, max_price_micro: most } = input.body
        const priceMaxMicro = most === undefined ? undefined : parseMicro(most)
        return changed(deps, call, input.query.product, (tx, { wallet, product }) =>
          turnOn(deps, tx, { wallet, product, mandateId, priceMaxMicro }),
        )
      },
    },
  })
}

/** A change that needs nothing but the signer and, where there are several, the product. */
function plainRoute(
  deps: ChangeDeps,
  word: 'cancel' | 'pause' | 'resume',
  texts: { summary: string; description?: string },
  change: Change,
): RouteDeclaration {
  return defineRoute({
    ...common(word),
    ...texts,
    query: whichProduct,
    output,
    example: { output: { subscription: exampleStatus, renewal: null } },
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: (input, call) => changed(deps, call, input.query.product, change),
    },
  })
}

const cancelRoute = (deps: ChangeDeps) =>
  plainRoute(
    deps,
    'cancel',
    {
      summary: 'End the subscription at the end of what is paid for',
      description: 'Turns the renewal off. What is paid for can be used to its end; nothing is refunded.',
    },
    (tx, { wallet, product }) => turnOff(deps, tx, wallet, product),
  )

const pauseRoute = (deps: ChangeDeps) =>
  plainRoute(
    deps,
    'pause',
    {
      summary: 'Pause the subscription: it opens nothing, and its time does not run',
      description:
        'For 7 to 90 days, once in 60 days. Resumed before seven days are over it gives no time back; after 90 days it resumes by itself. A paused subscription is not renewed, and buying a period resumes it.',
    },
    (tx, { wallet, product }) => pauseSubscription(tx, wallet, product, deps.clock.nowMs()),
  )

const resumeRoute = (deps: ChangeDeps) =>
  plainRoute(deps, 'resume', { summary: 'Resume a paused subscription' }, (tx, { wallet, product }) =>
    resumeSubscription(tx, wallet, product, deps.clock.nowMs()),
  )

function upgradeRoute(deps: ChangeDeps): RouteDeclaration {
  return defineRoute({
    ...common('upgrade'),
    summary: 'Change a standard subscription to vip for the difference of the time that is left',
    description:
      'Paid from the credit of the signing wallet: (vip price less standard price) times the time left, over 30 days. The end stays where it is. GET /v1/subscriptions/list has the price of now in upgrade_price_micro. A renewal of standard ends with it.',
    body: z.strictObject({ max_price_micro: micro.describe('Nothing is changed at a higher price.') }),
    output: output.extend({ price_micro: z.string() }),
    example: {
      body: { max_price_micro: '750000000' },
      output: { subscription: { ...exampleStatus, tier: 'vip' }, renewal: null, price_micro: '375000000' },
    },
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const { wallet, networks } = await signerOf(deps, call)
        const priceMaxMicro = parseMicro(input.body.max_price_micro) ?? 0n
        const { subscription, priceMicro } = await upgrade(deps, { wallet, networks, priceMaxMicro })
        return jsonAnswer({
          subscription: showSubscription(deps.policy, subscription),
          renewal: showRenewal(await findRenewal(deps.database, wallet, 'feeds')),
          price_micro: priceMicro.toString(),
        })
      },
    },
  })
}
