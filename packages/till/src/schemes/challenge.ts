import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { bindingTag, bindingVersion } from '@assay/protocol/request-binding'
import type { Correction } from '../contract/entitled-scheme.ts'
import type { SoldResource } from '../contract/facilitator.ts'
import { type Offers, offeredRequest } from '../contract/offers.ts'
import type { ChallengeHeaders, PaidCall } from '../contract/paid-call.ts'
import type { PaymentDialect, WriteChallenge } from '../contract/payment-dialect.ts'
import type { Scheme, Schemes } from '../contract/scheme.ts'
import type { Terms } from '../contract/terms.ts'
import type { Clock } from '../kernel/clock.ts'
import { Problem, problemBody } from '../kernel/problem.ts'

/** Shared by all callers; `challenges` make what each gets for itself. */
type KeptChallenge = { paymentRequired: string; body: string; challenges: readonly WriteChallenge[] }

export type ChallengeDeps = {
  clock: Clock
  offers: Offers
  schemes: Schemes
  serviceName: string
  docsOrigin: string
  termsOf(call: PaidCall): Terms[]
  /** Those with a challenge of their own add it to every 402 that offers what they can pay. */
  dialects: readonly PaymentDialect[]
}

/** What a 402 needs to know of a way to pay. */
type Offered = Pick<Scheme, 'name' | 'supports' | 'isOffered' | 'suitsAll' | 'requirements' | 'extensions'> & {
  id?: string
}

/** Rebuilt this often, so that signed offers are always fresh enough to be honoured for minutes. */
const challengeAgeMsMax = 30_000
/** What it says of the data is newer. */
const dataStateAgeMsMax = 5_000
const challengesKeptMax = 4_096
/** An address is repeated in header, body and every offer: long ones of a stranger's making are not remembered. */
const keptUrlMax = 1_024

/** Clients and proxies have been seen to fail on longer headers; what does not fit is left to the body. */
export const paymentRequiredBytesMax = 3_060

/** More choice than clients weigh, and more than fits the header. */
const acceptsMax = 3

const identifierExtension = {
  info: { required: false },
  schema: { type: 'object', properties: { id: { type: 'string' } } },
}

const bindingExtension = {
  info: { version: bindingVersion, tag: bindingTag },
  schema: { type: 'object', properties: { salt: { type: 'string' } } },
}

/** What a 402 says of the ways to pay for a call. */
function createBuilder(deps: ChallengeDeps) {
  const entitled = [...deps.schemes.entitled.values()]
  const perNetwork = entitled.filter((scheme) => scheme.extension === undefined)
  const [firstScheme, ...others] = deps.schemes.all
  const ways: Offered[] = [...(firstScheme ? [firstScheme] : []), ...perNetwork, ...others]

  /**
   * `entitledOn`: two networks, a channel and credit do not fit. The channel, which stock clients know, is the third entry,
   * and credit, which ours alone know, an extension.
   */
  function partsOf(call: PaidCall, entitledOn?: string) {
    const terms = call.unpriced ? [] : deps.termsOf(call)
    const [first] = terms
    const last = entitled.filter(
      (scheme) => first !== undefined && scheme.extension !== undefined && scheme.isOffered(call.route, first),
    )
    const lastEntries = first === undefined ? [] : last.map((scheme) => scheme.requirements(first))
    const known = ways.flatMap((scheme) =>
      terms.filter((one) => isOffered(scheme, call, one)).map((one) => ({ scheme, terms: one })),
    )
    const usual = chooseEntries(known, last.length)
    const more = known.find(
      (one) =>
        one.terms.network.caip2 === entitledOn &&
        perNetwork.some((scheme) => scheme === one.scheme) &&
        !usual.includes(one),
    )
    const offered = more ? [...usual.slice(0, acceptsMax - 1), more] : usual
    const isFull = offered.length >= acceptsMax
    const resource = resourceOf(deps, call)
    const offers = deps.offers.sign(
      call,
      offered.map((one) => ({ scheme: one.scheme.name, terms: one.terms })),
    )
    const extensions: Record<string, Json> = Object.assign(
      {},
      ...offered.map((one) => one.scheme.extensions?.(one.terms) ?? {}),
      ...(isFull ? last.map(({ name, extension }) => ({ [name]: extension })) : []),
    )
    const entries = offered.map((one) => one.scheme.requirements(one.terms))
    // Last, because clients that do not know these entries take the first.
    const accepts = [...entries, ...(isFull ? [] : lastEntries)]
    return { terms, offered, parts: { resource, accepts, offers }, extensions, all: [...entries, ...lastEntries] }
  }

  /** With the channel where a signed offer fits beside it: the price that a client was quoted is worth more. */
  function build(call: PaidCall): KeptChallenge {
    const usual = partsOf(call)
    const isFull = usual.offered.length >= acceptsMax
    const entitledOn = isFull
      ? undefined
      : usual.terms.find((terms) => perNetwork.some((scheme) => isOffered(scheme, call, terms)))
    const more = entitledOn && partsOf(call, entitledOn.network.caip2)
    const fitting = more && fittingHeader(call, more.parts, more.extensions)
    const { terms, offered, parts, extensions, all } = more && fitting?.offers ? more : usual
    return {
      paymentRequired: fitting?.offers ? fitting.header : fittingHeader(call, parts, extensions).header,
      body: challengeBody(call, deps.docsOrigin, { ...parts, accepts: all }, terms[0]?.amountMicro ?? 0n),
      challenges: deps.dialects.flatMap((dialect) => dialect.challenge?.(call.resourceUrl, offered) ?? []),
    }
  }

  return { partsOf, build }
}

/** Builds 402s from configuration and declarations alone, and keeps the recent ones: the unpaid path does no I/O. */
export function createChallenges(deps: ChallengeDeps) {
  const kept = new Map<string, { challenge: KeptChallenge; builtAtMs: number }>()
  const { partsOf, build } = createBuilder(deps)

  function find(call: PaidCall): KeptChallenge {
    // Wrong input is echoed in the body, so such a challenge is not worth keeping; nor is one that fills the memory.
    if (call.inputProblem || call.resourceUrl.length > keptUrlMax) return build(call)
    // The URL does not name the whole input of a call that came by another way than HTTP.
    const input = call.dataState ? Buffer.from(call.bodyDigest).toString('base64url') : ''
    const key = `${call.route.id} ${call.priceMicro} ${offeredRequest(call) ?? ''} ${input} ${call.resourceUrl}`
    const known = kept.get(key)
    const nowMs = deps.clock.monotonicMs()
    const ageMsMax = call.dataState ? dataStateAgeMsMax : challengeAgeMsMax
    if (known && nowMs - known.builtAtMs < ageMsMax) return known.challenge
    const challenge = build(call)
    kept.delete(key)
    kept.set(key, { challenge, builtAtMs: nowMs })
    if (kept.size > challengesKeptMax) kept.delete(kept.keys().next().value as string)
    return challenge
  }

  return {
    /** What a facilitator receives about the sale: what the 402 says, whatever the client repeats of it. */
    sold(call: PaidCall): { resource: SoldResource; bazaar?: Json } {
      const { bazaar } = call.route
      return { resource: resourceOf(deps, call), ...(bazaar === undefined ? {} : { bazaar }) }
    },
    /** Problem-specific 402s (an invalid or failed payment) share the headers and bring their own body. */
    headers: (call: PaidCall): ChallengeHeaders => headersOf(call, find(call)),
    /** For a payer who counted from another base, as that of a channel: its state, in its entry. */
    corrected(call: PaidCall, error: string, { scheme, network, state }: Correction): ChallengeHeaders {
      const { parts, extensions } = partsOf(call, network)
      const accepts = parts.accepts.map((entry) =>
        entry['scheme'] === scheme && entry['network'] === network
          ? { ...entry, extra: { ...(entry['extra'] as object), ...state } }
          : entry,
      )
      return { paymentRequired: fittingHeader(call, { ...parts, accepts, error }, extensions).header }
    },
    of(call: PaidCall): { body: string } & ChallengeHeaders {
      const challenge = find(call)
      return { body: challenge.body, ...headersOf(call, challenge) }
    },
  }
}

export type Challenges = ReturnType<typeof createChallenges>

const resourceOf = ({ serviceName }: ChallengeDeps, { resourceUrl, route }: PaidCall): SoldResource => ({
  url: resourceUrl,
  description: route.description,
  mimeType: route.mimeType,
  serviceName,
})

function headersOf(call: PaidCall, { paymentRequired, challenges }: KeptChallenge): ChallengeHeaders {
  if (challenges.length === 0) return { paymentRequired }
  const writers = challenges.map((write) => write(call))
  return { paymentRequired, authenticate: () => writers.map((write) => write()).join(', ') }
}

const isOffered = (scheme: Offered, { route }: PaidCall, terms: Terms): boolean =>
  scheme.supports(terms.network.caip2) && scheme.isOffered?.(route, terms) !== false

type Entry = { scheme: Offered; terms: Terms }

/**
 * The way that every holder can pay on every network, then the same for the further dollars of the route, then other ways:
 * as many as clients weigh.
 */
function chooseEntries(known: readonly Entry[], last: number): Entry[] {
  const rankOf = ({ scheme, terms }: Entry): number => {
    if (!scheme.suitsAll?.(terms)) return 2
    return terms.network.caip2.includes('/') ? 1 : 0
  }
  const roomFor = [Number.POSITIVE_INFINITY, acceptsMax, acceptsMax - last]
  return [...known]
    .sort((one, other) => rankOf(one) - rankOf(other))
    .filter((entry, place) => place < (roomFor[rankOf(entry)] as number))
}

type Parts = { resource: unknown; accepts: Record<string, unknown>[]; offers: unknown[]; error?: string }

/** All of it where it fits; otherwise fewer offers (the body has them all), and at last no discovery block. */
function fittingHeader(
  call: PaidCall,
  parts: Parts,
  extensions: Record<string, Json>,
): { header: string; offers: number } {
  const { bazaar } = call.route
  for (let kept = parts.offers.length; kept >= 0; kept -= 1) {
    const header = encodeHeader({ ...parts, offers: parts.offers.slice(0, kept) }, bazaar, extensions)
    if (header.length <= paymentRequiredBytesMax) return { header, offers: kept }
  }
  return { header: encodeHeader({ ...parts, offers: [] }, undefined, extensions), offers: 0 }
}

function encodeHeader(
  { resource, accepts, offers, error = 'Payment required' }: Parts,
  bazaar: PaidCall['route']['bazaar'],
  extensions: Record<string, Json>,
): string {
  const paymentRequired = {
    x402Version: 2,
    error,
    resource,
    accepts,
    extensions: {
      ...(bazaar === undefined ? {} : { bazaar }),
      'payment-identifier': identifierExtension,
      'request-binding': bindingExtension,
      ...extensions,
      ...(offers.length === 0 ? {} : { 'offer-receipt': { info: { offers }, schema: { type: 'object' } } }),
    },
  }
  return Buffer.from(JSON.stringify(paymentRequired)).toString('base64')
}

/** Read by clients of version 1, which look for `error` in the body. */
const versionText =
  'x402 version 2: sign one of `accepts` and send PAYMENT-SIGNATURE. X-PAYMENT (version 1) is not supported: update the client.'

function challengeBody(call: PaidCall, docsOrigin: string, parts: Parts, priceMicro: Micro): string {
  const { inputProblem } = call
  const wrong = inputProblem === undefined ? undefined : problemBody(inputProblem, docsOrigin)
  const problem = new Problem('payment_required', {
    ...(wrong === undefined
      ? { detail: `This answer costs ${formatUsd(priceMicro)} USDC.` }
      : {
          detail: wrongInputText(inputProblem),
          hint: 'Correct the input first: it would be refused, and not charged.',
        }),
    extra: {
      x402Version: 2,
      error: call.unpriced ? wrongInputText(inputProblem) : versionText,
      ...(call.unpriced ? {} : { price_usd: formatUsd(priceMicro), price_micro: priceMicro.toString() }),
      ...parts,
      ...(call.dataState ? { data_state: call.dataState() } : {}),
    },
  })
  return JSON.stringify({ ...(wrong && { input_problem: wrong }), ...problemBody(problem, docsOrigin) })
}

const wrongInputText = (problem: Problem | undefined) =>
  `This input cannot be bought: ${problem?.details.detail ?? problem?.kind.title}`
