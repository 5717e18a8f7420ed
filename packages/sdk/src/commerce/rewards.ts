import type { LocalAccount } from 'viem'
import { type AnswerOf, ask, given } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'

export type Loyalty = AnswerOf<'rewards.loyalty'>
export type AffiliateStatus = AnswerOf<'rewards.affiliate'>
export type Redemption = AnswerOf<'rewards.redeem'>
export type Pass = Redemption['pass']

export function readLoyalty(client: AssayClient, node: string, wallet: string): Promise<Loyalty> {
  return ask(client, node, 'rewards.loyalty', { params: { wallet } })
}

export function readAffiliate(client: AssayClient, node: string, wallet: string): Promise<AffiliateStatus> {
  return ask(client, node, 'rewards.affiliate', { params: { wallet } })
}

export type RedeemOptions = {
  node: string
  account: Pick<LocalAccount, 'address' | 'signTypedData'>
  reward: string
  /** A whole multiple of the reward's price; default: one call. */
  points?: string
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
  const wallet = account.address
  const info = await ask(client, node, 'rewards.redeem_info', {
    query: { wallet, reward, ...given({ points: options.points }) },
  })
  const points = options.points ?? info.rewards.find(({ id }) => id === reward)?.points
  if (!info.sign || points === undefined)
    throw new AssayError('request_failed', { detail: `the node has no reward ${reward}` })
  const { nonce, issued_at, expires_at } = info.sign
  const typedData = info.sign.typed_data as TypedRedeem
  requireRedeem(typedData, { wallet, points, reward, nonce })
  const signature = await account.signTypedData(typedData as never)
  return ask(client, node, 'rewards.redeem', {
    body: { wallet, points, reward, nonce, issued_at, expires_at, signature },
  })
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
