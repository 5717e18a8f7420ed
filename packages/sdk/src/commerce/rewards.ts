import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'
import { readJson } from '../read-json.ts'

export type Loyalty = {
  wallet: string
  points: string
  pending_points: string
  tier: 'BRONZE' | 'SILVER' | 'GOLD' | 'PLATINUM'
  spent_usd: string
  next_tier: { name: string; needs_usd: string } | null
  referral: { link: string; referred: number; visits: number }
  redeemable: { reward: string; what: string; points: string; calls: number }[]
  history: { at: string; what: string; points: string }[]
}

export type AffiliateStatus = {
  wallet: string
  rate: number
  earned_micro: string
  pending_micro: string
  payable_micro: string
  paid_micro: string
  /** Paid before its sale was given back; set off against what is earned next. */
  owed_back_micro: string
  link: string
  payouts: { id: string; network: string; amount_micro: string; state: string; transaction: string | null }[]
}

export type Pass = {
  id: string
  token: string | null
  reward: string
  calls: number
  max_price_usd: string
  expires_at: string
}
export type Redemption = { pass: Pass; points: string; balance: string }

export async function readLoyalty(client: AssayClient, node: string, wallet: string): Promise<Loyalty> {
  return readJson<Loyalty>(await client.fetch(new URL(`/loyalty/${wallet}`, node).href))
}

export async function readAffiliate(client: AssayClient, node: string, wallet: string): Promise<AffiliateStatus> {
  return readJson<AffiliateStatus>(await client.fetch(new URL(`/affiliate/${wallet}`, node).href))
}

export type RedeemOptions = {
  node: string
  account: Pick<LocalAccount, 'address' | 'signTypedData'>
  reward: string
  /** A whole multiple of the reward's price; default: one call. */
  points?: string
}

type Signing = {
  rewards: { id: string; points: string }[]
  sign?: { nonce: string; issued_at: string; expires_at: string; typed_data: TypedRedeem }
}
type TypedRedeem = {
  domain: Record<string, unknown>
  types: Record<string, { name: string; type: string }[]>
  primaryType: string
  message: Record<string, unknown>
}

/** Burns points for a pass. What is signed is checked here first: a node must not get another statement out of a wallet. */
export async function redeemPoints(client: AssayClient, options: RedeemOptions): Promise<Redemption> {
  const { node, account, reward } = options
  const url = new URL('/redeem/info', node)
  url.searchParams.set('wallet', account.address)
  url.searchParams.set('reward', reward)
  if (options.points !== undefined) url.searchParams.set('points', options.points)
  const info = await readJson<Signing>(await client.fetch(url.href))
  const points = options.points ?? info.rewards.find(({ id }) => id === reward)?.points
  if (!info.sign || points === undefined)
    throw new AssayError('request_failed', { detail: `the node has no reward ${reward}` })
  const { nonce, issued_at, expires_at, typed_data } = info.sign
  requireRedeem(typed_data, { wallet: account.address, points, reward, nonce })
  const signature = await account.signTypedData(typed_data as never)
  const body = JSON.stringify({ wallet: account.address, points, reward, nonce, issued_at, expires_at, signature })
  const headers = { 'content-type': 'application/json' }
  return readJson<Redemption>(await client.fetch(new URL('/redeem', node).href, { method: 'POST', headers, body }))
}

function requireRedeem(
  data: TypedRedeem,
  expected: { wallet: string; points: string; reward: string; nonce: string },
): void {
  const { message, domain } = data
  const fits =
    data.primaryType === 'Redeem' &&
    domain['name'] === 'Assay' &&
    domain['verifyingContract'] === undefined &&
    String(message['wallet']).toLowerCase() === expected.wallet.toLowerCase() &&
    String(message['points']) === expected.points &&
    message['reward'] === expected.reward &&
    message['nonce'] === expected.nonce
  if (!fits)
    throw new AssayError('request_failed', { detail: 'the node asked to sign something else than this redemption' })
}
