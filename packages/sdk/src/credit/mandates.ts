import { parseUsd } from '@assay/protocol/money'
import { mandateTypes } from '@assay/protocol/typed-data/mandate'
import { nodeDomain } from '@assay/protocol/typed-data/node-domain'
import type { LocalAccount } from 'viem'
import { bytesToHex, getAddress } from 'viem/utils'
import { type AnswerOf, allPages, ask, askSigned, type BodyOf, given, type Signer } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'
import { defaultPlatform, type Platform } from '../platform.ts'

export type Mandate = AnswerOf<'mandates.create'>

export type MandateTerms = {
  /** Base address of the node it is for; it means nothing at any other. */
  node: string
  /** Who may draw. */
  delegate: string
  /** Route ids such as `sandbox.echo.*`, or paths such as `/v1/report/*`. */
  routes: readonly string[]
  maxPerCallUsd: string
  maxPerDayUsd: string
  maxTotalUsd: string
  expiresAt: Date
  chainId?: number
}

/** A signed mandate, to be presented by anyone who has it. */
export type SignedMandate = BodyOf<'mandates.create'>

/** Nothing is sent: the text is made and signed here, so that no node can get another one out of the wallet. */
export async function signMandate(
  account: Pick<LocalAccount, 'address' | 'signTypedData'>,
  terms: MandateTerms,
  platform: Pick<Platform, 'randomBytes'> = defaultPlatform,
): Promise<SignedMandate> {
  const node = new URL(terms.node).origin
  const chainId = terms.chainId ?? 8453
  const capPerCall = micro(terms.maxPerCallUsd)
  const capPerDay = micro(terms.maxPerDayUsd)
  const capTotal = micro(terms.maxTotalUsd)
  const expiresAt = BigInt(Math.floor(terms.expiresAt.getTime() / 1_000))
  const nonce = bytesToHex(platform.randomBytes(32))
  const delegate = getAddress(terms.delegate.toLowerCase())
  const routes = [...terms.routes]
  const signature = await account.signTypedData({
    domain: nodeDomain(node, chainId),
    types: mandateTypes,
    primaryType: 'Mandate',
    message: { owner: account.address, delegate, node, routes, capPerCall, capPerDay, capTotal, expiresAt, nonce },
  })
  return {
    owner: account.address,
    delegate,
    routes,
    cap_per_call_micro: capPerCall.toString(),
    cap_per_day_micro: capPerDay.toString(),
    cap_total_micro: capTotal.toString(),
    expires_at: new Date(Number(expiresAt) * 1_000).toISOString(),
    nonce,
    chain_id: chainId,
    signature,
  }
}

function micro(usd: string): bigint {
  const amount = parseUsd(usd)
  if (amount === undefined || amount === 0n)
    throw new AssayError('request_failed', { detail: `not decimal USD above zero: ${usd}` })
  return amount
}

/** Anyone may present it, as often as wanted: it is one mandate. */
export function presentMandate(client: AssayClient, node: string, mandate: SignedMandate): Promise<Mandate> {
  return ask(client, node, 'mandates.create', { body: mandate })
}

/** The owner signs the request as well as the mandate. That confirms it, so it can still draw after a restore of the node. */
export async function createMandate(
  client: AssayClient,
  account: Signer['account'] & Pick<LocalAccount, 'signTypedData'>,
  terms: MandateTerms,
): Promise<Mandate> {
  const { node, chainId } = terms
  const body = await signMandate(account, terms)
  return askSigned(client, 'mandates.create', { body }, { node, account, ...given({ chainId }) })
}

/** Those the wallet gave or was given; only open ones unless all are wanted. */
export function listMandates(client: AssayClient, options: Signer & { all?: boolean }): Promise<Mandate[]> {
  const state = options.all ? 'all' : 'open'
  return allPages((cursor) => askSigned(client, 'mandates.list', { query: { state, ...given({ cursor }) } }, options))
}

/** The next draw under it is refused. */
export function revokeMandate(client: AssayClient, options: Signer & { id: string }): Promise<Mandate> {
  return askSigned(client, 'mandates.revoke', { params: { id: options.id } }, options)
}
