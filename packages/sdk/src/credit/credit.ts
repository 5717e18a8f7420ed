import { type AnswerOf, ask, askSigned, type BodyOf, given, type RowOf, type Signer } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'

export type CreditAccount = AnswerOf<'credit.balance'>
export type CreditOn = CreditAccount['credit'][number]
export type TopUp = AnswerOf<'credit.topup.post'>
export type CreditRefund = AnswerOf<'credit.refund'>
export type Bond = RowOf<'credit.bonds'>

/** Pays in on chain, once; the client's own maximum must allow the amount. */
export function topUpCredit(client: AssayClient, { node, usd }: { node: string; usd: string }): Promise<TopUp> {
  return ask(client, node, 'credit.topup.post', { body: { usd } })
}

export function readCredit(client: AssayClient, node: string, wallet: string): Promise<CreditAccount> {
  return ask(client, node, 'credit.balance', { params: { wallet } })
}

/** Back to the wallet that paid it in, on the chain where it did. All that can leave, by default. */
export function refundCredit(
  client: AssayClient,
  options: Signer & { usd?: string; network?: string },
): Promise<CreditRefund> {
  const body = given<BodyOf<'credit.refund'>>({ usd: options.usd, network: options.network })
  return askSigned(client, 'credit.refund', { body }, options)
}

/** Locks a part of the credit, to give the wallet weight. */
export function lockBond(
  client: AssayClient,
  options: Signer & { usd: string; days: number; network?: string },
): Promise<Bond> {
  const { usd, days } = options
  const body = given<BodyOf<'credit.bond'>>({ usd, days, network: options.network })
  return askSigned(client, 'credit.bond', { body }, options)
}

export function releaseBond(client: AssayClient, options: Signer & { bond: string }): Promise<Bond> {
  return askSigned(client, 'credit.bond.release', { body: { bond_id: options.bond } }, options)
}

export async function readBonds(client: AssayClient, node: string, wallet: string): Promise<Bond[]> {
  return (await ask(client, node, 'credit.bonds', { params: { wallet } })).data
}
