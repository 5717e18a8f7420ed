import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { signRequest } from '../sign-request.ts'

export type Subscription = {
  tier: 'standard' | 'vip'
  chain?: 'base' | 'polygon'
  price_usd: string
  asset: 'USDC'
  wallet: string
  from_at: string
  until_at: string
  provisional?: boolean
}

export type SubscriptionPurchase = { subscription: Subscription; token: string | null; receipt: string | null }

export type SubscribeOptions = {
  node: string
  tier: Subscription['tier']
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
export async function rotateSubscriptionToken(
  client: AssayClient,
  options: { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number },
): Promise<{ subscription: Subscription; token: string }> {
  return change(client, '/v1/subscriptions/rotate', options)
}

/** Ends the token; the wallet's own proof still opens the subscription. */
export async function revokeSubscriptionToken(
  client: AssayClient,
  options: { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number },
): Promise<{ subscription: Subscription; token: null }> {
  return change(client, '/v1/subscriptions/revoke', options)
}

async function change<T>(
  client: AssayClient,
  path: string,
  {
    node,
    account,
    chainId,
  }: { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number },
): Promise<T> {
  const signed = await signRequest(
    new URL(path, node),
    { method: 'POST' },
    { account, ...(chainId === undefined ? {} : { chainId }) },
  )
  return readJson<T>(await client.fetch(signed.url, { method: 'POST', headers: Object.fromEntries(signed.headers) }))
}
