import { isRecord } from '@assay/protocol/json-object'
import { fitsTemplate, pathSegments } from '@assay/protocol/mesh/path-template'
import type { AssayClient } from '../client.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import type { BuyInput } from './buy-from.ts'
import { createFetchGuard, hopPath } from './fetch-guard.ts'
import { publishes } from './inspect-node.ts'

export type WalkStep = {
  method: string
  url: string
  capability: string | undefined
  status: number
  paid: boolean
  body: unknown
  /** Path of the next hop on the same node. */
  next: string | undefined
  /** Another node that has what this one does not. */
  elsewhere: string | undefined
}

export type WalkOptions = {
  /** What to send at a step; default: the example of the manifest. */
  input?(step: { capability: string | undefined; path: string; steps: readonly WalkStep[] }): BuyInput | undefined
  /** The job is finished after this step. */
  until?(step: WalkStep): boolean
  stepsMax?: number
  /** No step begins after this. */
  deadlineMs?: number
  platform?: Partial<Platform>
}

export type Walk = {
  steps: readonly WalkStep[]
  /** `loop`: the next hop was already asked. `end`: there is none. `refused`: a step was not answered with success. */
  ended: 'finished' | 'end' | 'loop' | 'limit' | 'refused'
}

type ManifestOffer = { capability: string; method: string; path: string[]; origin: string; body: unknown }
type Walker = Pick<AssayClient, 'fetch'> & Partial<Pick<AssayClient, 'pinnedKeys'>>

const defaultDeadlineMs = 120_000
const directoryMsMax = 5_000

/**
 * Follows X-x402-Next from a node's manifest, paying where it is asked to, within the client's policy. A walk never
 * leaves the node: its own origin, and a second one that publishes the key which signed the manifest.
 */
export async function followNext(client: Walker, address: string, options: WalkOptions = {}): Promise<Walk> {
  const platform: Platform = { ...defaultPlatform, ...options.platform }
  const { origin: home } = new URL(address)
  const endMs = platform.nowMs() + (options.deadlineMs ?? defaultDeadlineMs)
  const steps: WalkStep[] = []
  const asked = new Set<string>()
  const offers = createOffers(client, home, platform)
  let path = '/.well-known/x402'
  while (steps.length < (options.stepsMax ?? 12) && platform.nowMs() < endMs) {
    const offer = await offers.find(path)
    const input = options.input?.({ capability: offer?.capability, path, steps }) ?? {}
    const { step, keyId } = await take(client, offer?.origin ?? home, path, offer, input)
    steps.push(step)
    asked.add(path)
    if (steps.length === 1) offers.start(step.body, keyId)
    if (step.status >= 400) return { steps, ended: 'refused' }
    if (options.until?.(step)) return { steps, ended: 'finished' }
    if (step.next === undefined || step.next === '/') return { steps, ended: 'end' }
    if (asked.has(step.next)) return { steps, ended: 'loop' }
    path = step.next
  }
  return { steps, ended: 'limit' }
}

const pagesMax = 16

/** The offers of a manifest, whose further pages are read only for a path that the earlier ones do not name. */
function createOffers(client: Walker, home: string, platform: Platform) {
  const known: ManifestOffer[] = []
  const guard = createFetchGuard({ platform, homes: [home], deadlineMs: defaultDeadlineMs })
  const sameNode = new Map<string, Promise<boolean>>([[home, Promise.resolve(true)]])
  let signedBy: string | undefined
  let nextPage: string | undefined
  let pages = 0
  const add = (manifest: unknown) => {
    known.push(...readOffers(manifest))
    pages += 1
    nextPage = pages < pagesMax ? nextPageOf(manifest, home) : undefined
  }
  // What a manifest says of other origins is no reason to send them anything.
  const isSameNode = (origin: string) => {
    const signer = signedBy === undefined ? undefined : client.pinnedKeys?.(home)?.get(signedBy)
    const proven =
      sameNode.get(origin) ??
      guard
        .within(directoryMsMax, (guarded) => publishes(origin, home, signer, guard, guarded))
        .then((directory) => directory !== undefined)
        .catch(() => false)
    sameNode.set(origin, proven)
    return proven
  }
  return {
    start: (manifest: unknown, keyId: string | undefined) => {
      signedBy = keyId
      add(manifest)
    },
    async find(path: string): Promise<ManifestOffer | undefined> {
      for (;;) {
        for (const offer of known.filter((one) => fitsTemplate(one.path, pathSegments(path))))
          if (await isSameNode(offer.origin)) return offer
        if (nextPage === undefined) return undefined
        const { response } = await client.fetch(new URL(nextPage))
        add(await response.json().catch(() => undefined))
      }
    },
  }
}

/** The next page is read from the same node only: a manifest cannot send its readers to another host. */
function nextPageOf(manifest: unknown, home: string): string | undefined {
  const next = isRecord(manifest) ? manifest.next_page : undefined
  if (typeof next !== 'string' || !URL.canParse(next)) return undefined
  return new URL(next).origin === home ? next : undefined
}

async function take(
  client: Pick<AssayClient, 'fetch'>,
  origin: string,
  path: string,
  offer: ManifestOffer | undefined,
  input: BuyInput,
): Promise<{ step: WalkStep; keyId: string | undefined }> {
  const url = new URL(path, origin)
  for (const [name, value] of Object.entries(input.query ?? {})) url.searchParams.set(name, value)
  const method = offer?.method ?? 'GET'
  const body = method === 'GET' ? undefined : (input.body ?? offer?.body)
  const { response, payment, verified } = await client.fetch(url, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const step = {
    method,
    url: url.href,
    capability: offer?.capability,
    status: response.status,
    paid: payment.status === 'settled' || payment.status === 'drawn',
    body: await response.json().catch(() => undefined),
    next: hopPath(response.headers.get('x-x402-next'), origin),
    elsewhere: linkNext(response.headers.get('link')),
  }
  return { step, keyId: verified?.status === 'verified' ? verified.keyId : undefined }
}

/** The target of `rel="next"` in a Link header. */
export function linkNext(header: string | null): string | undefined {
  return /<([^<>]*)>\s*;\s*rel="?next"?(?:\s*[,;]|$)/.exec(header ?? '')?.[1]
}

function readOffers(manifest: unknown): ManifestOffer[] {
  if (!isRecord(manifest) || !Array.isArray(manifest.offers)) return []
  return manifest.offers.flatMap((offer: unknown) => {
    if (!isRecord(offer)) return []
    const { capability, method, url, input } = offer
    if (typeof capability !== 'string' || typeof method !== 'string' || typeof url !== 'string') return []
    if (!['GET', 'POST', 'PUT', 'DELETE'].includes(method)) return []
    const [, origin, path] = /^(https?:\/\/[^/]+)(\/.*)$/.exec(url) ?? []
    if (origin === undefined || path === undefined || !URL.canParse(origin) || new URL(origin).origin !== origin)
      return []
    return [{ capability, method, path: pathSegments(path), origin, body: isRecord(input) ? input.example : undefined }]
  })
}
