import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { signedCall } from './signed-call.ts'

export type Signer = { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number }

export type CreditOn = {
  network: string
  credit_micro: string
  credit_usd: string
  held_micro: string
  bonded_micro: string
  not_final_micro: string
  refundable_micro: string
  /** Arrived shortly before the node's database was restored; the operator decides. */
  in_review_micro: string
}

export type CreditAccount = {
  wallet: string
  credit: CreditOn[]
  refunds: {
    id: string
    network: string
    amount_micro: string
    state: string
    waits_for: 'approval' | 'daily_limit' | 'operator_funds' | null
    transaction: string | null
  }[]
}

export type TopUp = {
  wallet: string
  network: string
  added_micro: string
  credit_micro: string
  provisional: boolean
}

export type CreditRefund = {
  wallet: string
  refunds: {
    network: string
    refunded_micro: string
    cost_micro: string
    paid_micro: string
    payout: string
    state: 'queued' | 'waiting'
  }[]
}

export type Bond = {
  id: string
  wallet: string
  network: string
  bonded_micro: string
  slashed_micro: string
  state: 'locked' | 'releasing' | 'released' | 'slashed'
  locked_until_at: string
  release_at: string | null
}

const json = { 'content-type': 'application/json' }

/** Pays in on chain, once; the client's own maximum must allow the amount. */
export async function topUpCredit(client: AssayClient, { node, usd }: { node: string; usd: string }): Promise<TopUp> {
  const url = new URL('/v1/credit/topup', node).href
  return readJson<TopUp>(await client.fetch(url, { method: 'POST', headers: json, body: JSON.stringify({ usd }) }))
}

export async function readCredit(client: AssayClient, node: string, wallet: string): Promise<CreditAccount> {
  return readJson<CreditAccount>(await client.fetch(new URL(`/v1/credit/${wallet}`, node).href))
}

/** Back to the wallet that paid it in, on the chain where it did. All that can leave, unless told. */
export function refundCredit(
  client: AssayClient,
  options: Signer & { usd?: string; network?: string },
): Promise<CreditRefund> {
  const { usd, network } = options
  return signedCall(client, 'POST', '/v1/credit/refund', options, { usd, network })
}

/** Locks a part of the credit, to give the wallet weight. */
export function lockBond(
  client: AssayClient,
  options: Signer & { usd: string; days: number; network?: string },
): Promise<Bond> {
  const { usd, days, network } = options
  return signedCall(client, 'POST', '/v1/credit/bond', options, { usd, days, network })
}

export function releaseBond(client: AssayClient, options: Signer & { bond: string }): Promise<Bond> {
  return signedCall(client, 'POST', '/v1/credit/bond/release', options, { bond_id: options.bond })
}

export async function readBonds(client: AssayClient, node: string, wallet: string): Promise<Bond[]> {
  const { data } = await readJson<{ data: Bond[] }>(
    await client.fetch(new URL(`/v1/credit/${wallet}/bonds`, node).href),
  )
  return data
}
