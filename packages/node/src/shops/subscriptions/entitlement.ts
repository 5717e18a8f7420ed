import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import type { EntitlementPort, HoldOutcome, PaidCall } from '@assay/till'
import { asRefusal } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { verifySession, verifySiwx } from '@assay/till/proofs'
import { type TokenMaker, tokenHash } from '@assay/till/signing'
import type { ShopContext } from '../shop.ts'
import { countPull, refundPull, secondsLeft } from './fair-use.ts'
import { type Product, pathsOf, productOf, type SubscriptionPolicy, tiersCovering } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { findByToken, findSubscription, paidOn, type Subscription } from './store.ts'

export type EntitlementDeps = Pick<ShopContext, 'database' | 'clock' | 'proofs' | 'keyring'> & {
  policy: SubscriptionPolicy
  tokens: TokenMaker
}

/** An open stream is bounded by connections, not by pulls. */
const uncountedHold = 'stream'
const bearerPattern = /^Bearer (\S+)$/i
const bearerOf = (headers: ReadonlyMap<string, string>) => bearerPattern.exec(headers.get('authorization') ?? '')?.[1]
const isSession = (token: string) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

/** A subscriber's pull: by the token, by a signed challenge, or by the session that follows one. */
export function createSubscriptionEntitlement(deps: EntitlementDeps): EntitlementPort {
  return {
    name: 'subscription',
    claims: (headers) => {
      const bearer = bearerOf(headers)
      return (
        headers.has('sign-in-with-x') || (bearer !== undefined && (bearer.startsWith('asub_') || isSession(bearer)))
      )
    },
    hold: (call) => holdPull(deps, call).catch(asRefusal),
    // The pull was counted by the hold, and nothing else is used up.
    capture: async (_tx, held) => held.map(() => ({ status: 'captured' })),
    release: async (holdId) => {
      if (holdId !== uncountedHold) await refundPull(deps.database, holdId as Address)
      return undefined
    },
    describe: async () => undefined,
  }
}

async function holdPull(deps: EntitlementDeps, call: PaidCall): Promise<HoldOutcome> {
  const { policy, clock, database } = deps
  const covering = tiersCovering(policy, call.route.id)
  const subscription = await subscriptionOf(deps, call)
  const nowMs = clock.nowMs()
  if (covering.length === 0) return notCovered(deps, call, 'Subscriptions do not cover this route.')
  if (!subscription) return notCovered(deps, call, 'This wallet has no subscription.')
  if (subscription.untilMs <= nowMs)
    return notCovered(deps, call, `The subscription ended at ${toRfc3339(subscription.untilMs)}.`)
  if (subscription.pausedAtMs !== null)
    return notCovered(deps, call, `The subscription is paused since ${toRfc3339(subscription.pausedAtMs)}.`)
  if (!covering.includes(subscription.tier))
    return notCovered(deps, call, `A ${subscription.tier} subscription does not cover this route.`)
  if (subscription.product === 'stream') return { status: 'held', holdId: uncountedHold, account: subscription.wallet }
  const taken = await countPull(database, subscription.wallet, policy.fairUse, nowMs)
  if (taken === 'taken') return { status: 'held', holdId: subscription.wallet, account: subscription.wallet }
  const limit = taken === 'minute' ? policy.fairUse.perMinute : policy.fairUse.perDay
  throw new Problem(subscriptionProblems.fair_use, {
    detail: `At most ${limit} pulls a ${taken}.`,
    retryAfterSeconds: secondsLeft(taken, nowMs),
  })
}

/** Undefined: a wallet that proved itself and has none. A token that opens nothing is refused. */
async function subscriptionOf(deps: EntitlementDeps, call: PaidCall): Promise<Subscription | undefined> {
  const bearer = bearerOf(call.headers)
  if (bearer?.startsWith('asub_')) return byToken(deps, bearer)
  const { origin, host } = new URL(call.resourceUrl)
  const siwx = call.headers.get('sign-in-with-x')
  const proven =
    siwx === undefined
      ? verifySession({ clock: deps.clock, keyring: deps.keyring, origin, authority: host }, bearer ?? '')
      : await verifySiwx(deps.proofs, siwx, origin)
  return subscriptionOfProven(deps, proven, productOf(call.route.id))
}

async function byToken(deps: EntitlementDeps, token: string): Promise<Subscription> {
  const found = deps.tokens.looksLike(token) ? await findByToken(deps.database, tokenHash(token)) : undefined
  if (found !== undefined && found !== 'ended') return found
  throw new Problem('proof_invalid', {
    detail: found === 'ended' ? 'This token was rotated or revoked.' : 'This token is not one of this node.',
    hint: 'Sign POST /v1/subscriptions/rotate with the wallet to get a new token, or sign in with the wallet.',
  })
}

export async function subscriptionOfProven(
  deps: Pick<EntitlementDeps, 'database'>,
  proven: ProvenAccount,
  product: Product = 'feeds',
): Promise<Subscription | undefined> {
  const subscription = await findSubscription(deps.database, proven.address, product)
  if (!subscription || proven.kind === 'key') return subscription
  return (await paidOn(deps.database, proven.address, `eip155:${proven.chainId}`, product)) ? subscription : undefined
}

/** The 402 says what this pull costs, and what a renewal that covers it would. */
function notCovered({ policy }: EntitlementDeps, call: PaidCall, note: string): HoldOutcome {
  const covering = tiersCovering(policy, call.route.id)
  return {
    status: 'not_covered',
    note,
    extra: {
      price_usd: formatUsd(call.priceMicro),
      price_micro: call.priceMicro.toString(),
      renewal: covering.map((tier) => ({
        tier,
        price_usd: formatUsd(policy.priceMicro[tier]),
        ...pathsOf(tier),
      })),
    },
  }
}
