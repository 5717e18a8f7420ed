import { decodeHeader } from '@assay/protocol/json-object'
import { contradiction, offerAt } from '@assay/protocol/mesh/evidence'
import { openStatement } from '@assay/protocol/mesh/statement'
import { readLimited } from '@assay/protocol/read-limited'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import { type AssayClientOptions, createAssayClient } from '../client.ts'
import type { AssayResult } from '../context.ts'
import { AssayError } from '../errors.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import { createFetchGuard } from './fetch-guard.ts'
import type { FoundNode, PriceProof } from './inspect-node.ts'
import { keptResponse, sendEvidence, signEvidence } from './report.ts'

export type BuyInput = {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

export type BuyFromOptions = Omit<AssayClientOptions, 'baseUrl' | 'hosts' | 'maxPerCallUsd' | 'keys'> & {
  maxPerCallUsd?: string
  /** As for `discover`: a name is looked up again before it is paid. */
  resolve?: (hostname: string) => Promise<readonly string[]>
  /** Tells the node that named the seller how it went, signed by the account. Everybody can read it. */
  report?: boolean
}

const defaultDeadlineMs = 90_000
const reportMsMax = 5_000
const challengeBytesMax = 16_384

/** Buys once from a node that was found: at its host alone, under the keys it was found with, for no more than it asked. */
export async function buyFrom(node: FoundNode, options: BuyFromOptions, input: BuyInput = {}): Promise<AssayResult> {
  const { resolve, report, ...client } = options
  const url = fillIn(node.url, input)
  const deadlineMs = options.deadlineMs ?? defaultDeadlineMs
  const platform: Platform = {
    ...{ ...defaultPlatform, ...options.platform },
    ...(options.fetch ? { fetch: options.fetch } : {}),
  }
  const guard = createFetchGuard({ platform, homes: [node.namedBy], deadlineMs: deadlineMs + reportMsMax, resolve })
  const admitted = (await guard.admit(node.address, node.namedBy)) && (await guard.admit(url.origin, node.address))
  if (!admitted) throw new AssayError('host_not_allowed', { detail: `${url.origin} may not be asked from here` })
  const challenges: Pick<PriceProof, 'request' | 'response'>[] = []
  const startedMs = platform.nowMs()
  const bought = guard.within(deadlineMs, async (guarded) => {
    return createAssayClient({
      ...client,
      platform: guarded,
      fetch: async (request) => keepChallenge(challenges, request, await guarded.fetch(request)),
      hosts: [url.host],
      keys: { [url.origin]: node.keys },
      maxPerCallUsd: options.maxPerCallUsd ?? node.priceUsd,
    }).fetch(url, {
      method: node.method,
      ...(input.body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(input.body) }),
    })
  })
  const result = await bought.catch((error: unknown) => error)
  if (report)
    await guard
      .within(reportMsMax, async (guarded) => {
        await reportPrice(node, options.account, challenges, guarded)
        if (!(result instanceof Error))
          await reportPurchase(node, options.account, result as AssayResult, guarded.nowMs() - startedMs, guarded)
      })
      .catch(() => {})
  return bought
}

async function keepChallenge(
  kept: Pick<PriceProof, 'request' | 'response'>[],
  { method, url }: Request,
  response: Response,
): Promise<Response> {
  if (response.status !== 402 || kept.length > 0) return response
  const body = await readLimited(response.clone().body, challengeBytesMax)
  if (body !== 'too_large')
    kept.push({ request: { method, url }, response: keptResponse({ status: 402, headers: response.headers, body }) })
  return response
}

type Account = BuyFromOptions['account']

/** A seller that asked a buyer what it never stated has signed both. */
async function reportPrice(
  node: FoundNode,
  account: Account,
  [challenge]: readonly Pick<PriceProof, 'request' | 'response'>[],
  platform: Platform,
): Promise<void> {
  const statement = openStatement(node.statement)
  const offer = challenge && statement && offerAt(statement, challenge.request)
  if (offer === undefined || challenge === undefined) return
  if (contradiction(offer, challenge.response.headers['payment-required'] ?? null) === undefined) return
  await sendPriceProof(node.namedBy, account, { node: node.did, statement: node.statement, ...challenge }, platform)
}

export async function sendPriceProof(
  home: string,
  account: Pick<Account, 'address' | 'signMessage'>,
  proof: PriceProof,
  platform: Platform,
): Promise<boolean> {
  return sendEvidence(home, await signEvidence(account, { type: 'x402-mesh-price', ...proof }, platform), platform)
}

async function reportPurchase(
  node: FoundNode,
  account: Account,
  { payment, receipt, response }: AssayResult,
  latencyMs: number,
  platform: Platform,
): Promise<void> {
  const jws = receiptInHeaders(decodeHeader(response.headers.get('payment-response') ?? '', challengeBytesMax))
  if (payment.status !== 'settled' || receipt?.status !== 'verified' || jws === undefined) return
  const evidence = await signEvidence(
    account,
    {
      type: 'x402-mesh-purchase',
      node: node.did,
      capability: node.capability,
      method: node.method,
      receipt: jws,
      stated_micro: node.priceMicro.toString(),
      paid_micro: payment.amountMicro,
      latency_ms: Math.max(0, Math.round(latencyMs)),
      outcome: 'ok',
    },
    platform,
  )
  await sendEvidence(node.namedBy, evidence, platform)
}

/** A template with its parameters; throws when one is missing. */
export function fillIn(template: string, { params = {}, query = {} }: BuyInput): URL {
  const filled = template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new RangeError(`the parameter ${name} is missing`)
    // A browser's URL would take these as steps to another route.
    if (value === '.' || value === '..') throw new RangeError(`the parameter ${name} is not a value of a path`)
    return encodeURIComponent(value)
  })
  const url = new URL(filled)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}
