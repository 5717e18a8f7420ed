import { isRecord } from '@assay/protocol/json-object'
import type { AssayClient } from '../client.ts'
import type { BuyInput } from './buy-from.ts'

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
}

export type Walk = {
  steps: readonly WalkStep[]
  /** `loop`: the next hop was already asked. `end`: there is none. `refused`: a step was not answered with success. */
  ended: 'finished' | 'end' | 'loop' | 'limit' | 'refused'
}

type ManifestOffer = { capability: string; method: string; path: string[]; origin: string; body: unknown }

/** Follows X-x402-Next from a node's manifest, paying where it is asked to, within the client's policy. */
export async function followNext(
  client: Pick<AssayClient, 'fetch'>,
  address: string,
  options: WalkOptions = {},
): Promise<Walk> {
  const steps: WalkStep[] = []
  const asked = new Set<string>()
  const offers = createOffers(client, address)
  let path = '/.well-known/x402'
  while (steps.length < (options.stepsMax ?? 12)) {
    const offer = await offers.find(path)
    const input = options.input?.({ capability: offer?.capability, path, steps }) ?? {}
    const step = await take(client, offer?.origin ?? address, path, offer, input)
    steps.push(step)
    asked.add(path)
    if (steps.length === 1) offers.add(step.body)
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
function createOffers(client: Pick<AssayClient, 'fetch'>, address: string) {
  const known: ManifestOffer[] = []
  let nextPage: string | undefined
  let pages = 0
  const add = (manifest: unknown) => {
    known.push(...readOffers(manifest))
    pages += 1
    nextPage = pages < pagesMax ? nextPageOf(manifest, address) : undefined
  }
  return {
    add,
    async find(path: string): Promise<ManifestOffer | undefined> {
      for (;;) {
        const found = known.find((offer) => fits(offer.path, path))
        if (found !== undefined || nextPage === undefined) return found
        const { response } = await client.fetch(new URL(nextPage))
        add(await response.json().catch(() => undefined))
      }
    },
  }
}

/** Of the same node only: a manifest sends its readers nowhere else. */
function nextPageOf(manifest: unknown, address: string): string | undefined {
  const next = isRecord(manifest) ? manifest.next_page : undefined
  if (typeof next !== 'string' || !URL.canParse(next)) return undefined
  return new URL(next).origin === new URL(address).origin ? next : undefined
}

async function take(
  client: Pick<AssayClient, 'fetch'>,
  origin: string,
  path: string,
  offer: ManifestOffer | undefined,
  input: BuyInput,
): Promise<WalkStep> {
  const url = new URL(path, origin)
  for (const [name, value] of Object.entries(input.query ?? {})) url.searchParams.set(name, value)
  const method = offer?.method ?? 'GET'
  const body = method === 'GET' ? undefined : (input.body ?? offer?.body)
  const { response, payment } = await client.fetch(url, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return {
    method,
    url: url.href,
    capability: offer?.capability,
    status: response.status,
    paid: payment.status === 'settled' || payment.status === 'drawn',
    body: await response.json().catch(() => undefined),
    next: response.headers.get('x-x402-next') ?? undefined,
    elsewhere: linkNext(response.headers.get('link')),
  }
}

/** The target of `rel="next"` in a Link header. */
export function linkNext(header: string | null): string | undefined {
  return /<([^<>]*)>\s*;\s*rel="?next"?(?:\s*[,;]|$)/.exec(header ?? '')?.[1]
}

const segments = (path: string) => path.split('?')[0]?.split('/') ?? []

function fits(template: readonly string[], path: string): boolean {
  const parts = segments(path)
  return template.length === parts.length && template.every((part, i) => part === parts[i] || /^\{[^}]*\}$/.test(part))
}

function readOffers(manifest: unknown): ManifestOffer[] {
  if (!isRecord(manifest) || !Array.isArray(manifest.offers)) return []
  return manifest.offers.flatMap((offer: unknown) => {
    if (!isRecord(offer)) return []
    const { capability, method, url, input } = offer
    if (typeof capability !== 'string' || typeof method !== 'string' || typeof url !== 'string') return []
    const [, origin, path] = /^(https?:\/\/[^/]+)(\/.*)$/.exec(url) ?? []
    if (origin === undefined || path === undefined) return []
    return [{ capability, method, path: segments(path), origin, body: isRecord(input) ? input.example : undefined }]
  })
}
