import { type AnswerOf, askSigned, type Signer } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'

export type SubscriptionPurchase = AnswerOf<'subscriptions.standard.base'>
export type Subscription = SubscriptionPurchase['subscription']

export type SubscribeOptions = {
  node: string
  tier: 'standard' | 'vip'
  chain?: 'base' | 'polygon'
  affiliate?: string
  referrer?: string
}

/** Where a subscription is bought; the chain decides the path, and with it where it is paid. */
export function subscribeUrl({ node, tier, chain = 'base', affiliate, referrer }: SubscribeOptions): string {
  const url = new URL(`${chain === 'polygon' ? '/poly' : ''}/matrix/subscribe/${tier}`, node)
  if (affiliate !== undefined) url.searchParams.set('aff', affiliate)
  if (referrer !== undefined) url.searchParams.set('ref', referrer)
  return url.href
}

/** Pays for 30 days. The client's own maximum must allow the price. */
export async function subscribe(client: AssayClient, options: SubscribeOptions): Promise<SubscriptionPurchase> {
  return readJson<SubscriptionPurchase>(await client.fetch(subscribeUrl(options)))
}

/** Headers of a call that a subscription or a pass pays for. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** A new token for the wallet's subscription; the old one ends at once. */
export function rotateSubscriptionToken(
  client: AssayClient,
  signer: Signer,
): Promise<AnswerOf<'subscriptions.rotate'>> {
  return askSigned(client, 'subscriptions.rotate', {}, signer)
}

/** Ends the token; the wallet's own proof still opens the subscription. */
export function revokeSubscriptionToken(
  client: AssayClient,
  signer: Signer,
): Promise<AnswerOf<'subscriptions.revoke'>> {
  return askSigned(client, 'subscriptions.revoke', {}, signer)
}
