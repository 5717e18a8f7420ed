import { readJson } from '@assay/protocol/json-object'
import {
  type AssayClient,
  AssayError,
  type AssayResult,
  createAssayClient,
  createMandate,
  type Evidence,
  knownNetworks,
  type Mandate,
  type MandateTerms,
  type OnProgress,
  type PayableNetwork,
  type Purchase,
  packEvidence,
  type Quote,
  type Redemption,
  readDemoNetworks,
  redeemPoints,
  requestChallenge,
  signIn,
  signInHeader,
  signRequest,
} from '@assay/sdk'
import { ask } from '../node/ask.ts'
import type { NodeIndex } from '../node/node-index.ts'
import { asProblem, problemFrom } from '../node/problem.ts'
import { accountOf } from './account.ts'
import type { Bought, Order } from './order.ts'
import { recordPurchase } from './purchases.ts'
import type { Wallet } from './wallet-store.ts'

/**
 * Where the console may pay: the demo chains of a node on this machine, or real networks. Where we know the USDC ourselves it is
 * that; on a chain that the operator added it is what the node names, which also serves this page.
 */
async function networksOf(index: NodeIndex): Promise<readonly PayableNetwork[]> {
  if (index.demo !== undefined) return readDemoNetworks(index.base_url)
  return index.networks.map(
    (named) => knownNetworks.find(({ network }) => network === named.network) ?? payableOn(named),
  )
}

const payableOn = ({ network, asset, asset_name, asset_version }: NodeIndex['networks'][number]): PayableNetwork => ({
  network: network as PayableNetwork['network'],
  usdc: asset as PayableNetwork['usdc'],
  name: asset_name,
  version: asset_version,
})

const pinKey = (origin: string) => `assay.keys ${origin}`

/** A client for one purchase: it can sign for the agreed price and for nothing more. */
export async function clientFor(
  index: NodeIndex,
  wallet: Wallet,
  maxUsd: string,
  onProgress?: OnProgress,
): Promise<AssayClient> {
  const origins = [...new Set([index.base_url, index.api_url])]
  return createAssayClient({
    account: accountOf(index, wallet),
    baseUrl: index.base_url,
    hosts: origins.map((origin) => new URL(origin).host),
    maxPerCallUsd: maxUsd,
    maxTotalUsd: maxUsd,
    networks: await networksOf(index),
    keys: index.demo === undefined ? pinnedKeys(origins) : {},
    ...(onProgress === undefined ? {} : { onProgress }),
  })
}

/** Keys seen on an earlier visit. A demo node makes new ones with each new data folder, so there nothing is kept. */
function pinnedKeys(origins: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    origins.flatMap((origin) => {
      const kept = localStorage.getItem(pinKey(origin))
      return kept === null ? [] : [[origin, JSON.parse(kept) as unknown]]
    }),
  )
}

function keepKeys(index: NodeIndex, client: AssayClient, origin: string): void {
  const directory = client.keyDirectory(origin)
  if (index.demo === undefined && directory !== undefined)
    localStorage.setItem(pinKey(origin), JSON.stringify(directory))
}

const initOf = ({ method = 'GET', body, headers }: Order): RequestInit => ({
  method,
  headers: {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})

export type Priced = { status: 'priced'; quote: Quote } | { status: 'answered'; bought: Bought }

/** What the order would cost, read from the node's own signed 402. Nothing is signed for it. */
export async function quoteOrder(index: NodeIndex, wallet: Wallet, order: Order): Promise<Priced> {
  const client = await clientFor(index, wallet, '0.000001')
  const outcome = await client.quote(order.url, initOf(order))
  if (outcome.status === 'priced') return outcome
  return { status: 'answered', bought: await deliver(index, wallet, order, client, outcome.result) }
}

export type PayOptions = { quote: Quote; onProgress: OnProgress; purchase?: Purchase }

/** Pays exactly what was agreed to, or nothing. */
export async function payOrder(index: NodeIndex, wallet: Wallet, order: Order, options: PayOptions): Promise<Bought> {
  const client = await clientFor(index, wallet, options.quote.priceUsd, options.onProgress)
  const terms = options.purchase === undefined ? { agreed: options.quote } : { purchase: options.purchase }
  const result = await client.fetch(order.url, initOf(order), terms)
  return deliver(index, wallet, order, client, result)
}

/** The purchase inside an error whose outcome is open: asking again with it never pays twice. */
export function openPurchase(error: unknown): Purchase | undefined {
  return error instanceof AssayError ? (error.details.purchase as Purchase | undefined) : undefined
}

async function deliver(
  index: NodeIndex,
  wallet: Wallet,
  order: Order,
  client: AssayClient,
  result: AssayResult,
): Promise<Bought> {
  const origin = new URL(order.url).origin
  keepKeys(index, client, origin)
  const bytes = new Uint8Array(await result.response.clone().arrayBuffer())
  const body = readJson(bytes)
  if (!result.response.ok) throw problemFrom(result.response.status, body)
  const evidence = await evidenceOf(order, client, result)
  const { verified, payment, receipt } = result
  const bought: Bought = {
    body,
    bytes,
    verified:
      verified.status === 'verified'
        ? { ok: true, keyId: verified.keyId, created: verified.created }
        : { ok: false, reason: verified.status === 'invalid' ? verified.reason : verified.status },
    payment:
      payment.status === 'settled'
        ? {
            status: 'settled',
            amountMicro: payment.amountMicro,
            network: payment.network,
            transaction: payment.transaction,
          }
        : { status: payment.status },
    receipt:
      receipt === undefined
        ? undefined
        : receipt.status === 'verified'
          ? { ok: true, keyId: receipt.keyId }
          : { ok: false, reason: receipt.reason },
    evidence,
  }
  if (bought.payment.status === 'settled') recordPurchase(wallet.address, order, bought.payment)
  return bought
}

function evidenceOf(order: Order, client: AssayClient, result: AssayResult): Promise<Evidence> {
  const text = order.body === undefined ? '' : JSON.stringify(order.body)
  return packEvidence({
    request: {
      method: order.method ?? 'GET',
      url: order.url,
      contentType: order.body === undefined ? null : 'application/json',
      body: new TextEncoder().encode(text),
    },
    result,
    directory: client.keyDirectory(new URL(order.url).origin),
    nowMs: Date.now(),
  })
}

/** A request signed by the wallet itself (ERC-8128): the proof is for this request and counts once. */
export async function askSigned<T>(
  index: NodeIndex,
  wallet: Wallet,
  url: string,
  request: { method?: string; body?: unknown } = {},
): Promise<T> {
  const init: RequestInit = {
    method: request.method ?? 'GET',
    headers: {
      accept: 'application/json',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  }
  try {
    const signed = await signRequest(url, init, {
      account: accountOf(index, wallet),
      ...chainOf(index),
    })
    const response = await fetch(signed)
    const body = readJson(new Uint8Array(await response.arrayBuffer()))
    if (!response.ok) throw problemFrom(response.status, body)
    return body as T
  } catch (error) {
    throw asProblem(error)
  }
}

/** A read that only needs to know who asks: a challenge is signed, and nothing else. */
export async function askSignedIn<T>(index: NodeIndex, wallet: Wallet, url: string): Promise<T> {
  try {
    const { origin } = new URL(url)
    const proof = await signIn(await requestChallenge(origin), {
      account: accountOf(index, wallet),
      origin,
      ...chainOf(index),
    })
    return (await ask<T>(url, { headers: { [signInHeader]: proof } })).body
  } catch (error) {
    throw asProblem(error)
  }
}

export type MandateInput = Omit<MandateTerms, 'node' | 'expiresAt' | 'chainId'> & { days: number }

/** Signs limits within which somebody else may draw on this wallet's credit, and presents them to the node. */
export async function signMandate(index: NodeIndex, wallet: Wallet, given: MandateInput): Promise<Mandate> {
  const { days, ...terms } = given
  try {
    const client = await clientFor(index, wallet, '0.000001')
    const expiresAt = new Date(Date.now() + days * 86_400_000)
    return await createMandate(client, accountOf(index, wallet), {
      ...terms,
      node: index.base_url,
      expiresAt,
      ...chainOf(index),
    })
  } catch (error) {
    throw asProblem(error)
  }
}

/** Burns points for a pass. The sdk checks what is signed before the wallet sees it. */
export async function redeem(index: NodeIndex, wallet: Wallet, reward: string): Promise<Redemption> {
  try {
    const client = await clientFor(index, wallet, '0.000001')
    return await redeemPoints(client, { node: index.base_url, account: accountOf(index, wallet), reward })
  } catch (error) {
    throw asProblem(error)
  }
}

function chainOf(index: NodeIndex): { chainId?: number } {
  const chain = index.networks[0]?.network.split(':')[1]
  return chain === undefined ? {} : { chainId: Number(chain) }
}
