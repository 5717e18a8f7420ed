import { parseUsd } from '@assay/protocol/money'
import { mandateTypes } from '@assay/protocol/typed-data/mandate'
import { nodeDomain } from '@assay/protocol/typed-data/node-domain'
import type { Hex, LocalAccount } from 'viem'
import { bytesToHex, getAddress } from 'viem/utils'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import { readJson } from '../read-json.ts'
import type { Signer } from './credit.ts'
import { signedCall } from './signed-call.ts'

export type Mandate = {
  id: string
  owner: string
  delegate: string
  chain_id: number
  routes: string[]
  cap_per_call_micro: string
  cap_per_day_micro: string
  cap_total_micro: string
  drawn_today_micro: string
  drawn_total_micro: string
  expires_at: string
  nonce: string
  state: 'open' | 'expired' | 'revoked'
  created_at: string
  revoked_at: string | null
}

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
export type SignedMandate = {
  owner: string
  delegate: string
  routes: string[]
  cap_per_call_micro: string
  cap_per_day_micro: string
  cap_total_micro: string
  expires_at: string
  nonce: Hex
  chain_id: number
  signature: Hex
}

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
export async function presentMandate(client: AssayClient, node: string, mandate: SignedMandate): Promise<Mandate> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(mandate) }
  return readJson<Mandate>(await client.fetch(new URL('/v1/mandates', node).href, init))
}

export async function createMandate(
  client: AssayClient,
  account: Pick<LocalAccount, 'address' | 'signTypedData'>,
  terms: MandateTerms,
): Promise<Mandate> {
  return presentMandate(client, terms.node, await signMandate(account, terms))
}

/** Those the wallet gave or was given; only open ones unless all are wanted. */
export async function listMandates(client: AssayClient, options: Signer & { all?: boolean }): Promise<Mandate[]> {
  const found: Mandate[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ state: options.all ? 'all' : 'open', ...(cursor === null ? {} : { cursor }) })
    const page: { data: Mandate[]; next_cursor: string | null } = await signedCall(
      client,
      'GET',
      `/v1/mandates?${query}`,
      options,
    )
    found.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && found.length < 1_000)
  return found
}

/** The next draw under it is refused. */
export function revokeMandate(client: AssayClient, options: Signer & { id: string }): Promise<Mandate> {
  return signedCall(client, 'DELETE', `/v1/mandates/${options.id}`, options)
}
