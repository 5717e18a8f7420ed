import type { Micro } from '@assay/protocol/money'
import type { PaidCall, PaidRoute } from '../contract/paid-call.ts'
import { asProblem, type Problem } from '../kernel/problem.ts'
import { notAvailable } from './availability.ts'
import { digestBody } from './digest.ts'
import type { PaidEntry } from './paid-route.ts'
import type { ReadInput } from './read-input.ts'
import type { CallContext, PaidAccess, RoutePrice } from './route.ts'
import type { TimeLimit } from './time-limit.ts'

/** A request to a paid route, stripped of HTTP, as the gate takes it. */
export async function buildPaidCall(
  timeLimit: TimeLimit,
  paid: PaidEntry,
  read: ReadInput,
  context: CallContext,
): Promise<PaidCall> {
  const quote = await quoteOf(paid.access.price, read)
  const { access } = paid
  const { bound } = context
  return {
    route: routeOf(paid, quote.more === true, bound !== undefined),
    method: bound?.method ?? context.method,
    resourceUrl: bound?.resourceUrl ?? context.resourceUrl,
    contentType: bound?.contentType ?? context.headers.get('content-type') ?? '',
    received: context.received,
    rawBody: context.rawBody,
    bodyDigest: bound?.digest ?? digestBody(context.rawBody),
    representation: context.representation,
    priceMicro: quote.micro,
    attribution: context.attribution,
    headers: context.headers,
    remoteAddress: context.remoteAddress,
    clientGone: context.signal,
    ...(quote.problem === undefined ? {} : { inputProblem: quote.problem }),
    ...(quote.unpriced ? { unpriced: true } : {}),
    ...(access.dataState ? { dataState: () => access.dataState?.(read.input.params) ?? null } : {}),
    prepare: (payer, paymentId) => {
      let stop: AbortController | undefined
      let overrun: Problem | undefined
      const limited = {
        ...context,
        // Made only for a handler that looks at it: most never do.
        get signal() {
          stop ??= new AbortController()
          if (overrun) stop.abort(overrun)
          return stop.signal
        },
        payer,
        paymentId,
        priceMicro: quote.micro,
      }
      return timeLimit.run(prepare(access, read, limited), (problem) => {
        overrun = problem
        stop?.abort(problem)
      })
    },
  }
}

/** Async, so that a handler that throws at once looks like any other failure. */
async function prepare(access: PaidAccess, read: ReadInput, call: Parameters<PaidAccess['prepare']>[1]) {
  const reason = access.unavailable?.(read.input.params)
  if (reason) throw notAvailable(reason)
  return access.prepare(read.input, call)
}

function routeOf(paid: PaidEntry, more: boolean, isBound: boolean): PaidRoute {
  const route = more ? (paid.more ?? paid.route) : paid.route
  if (!isBound) return route
  // It describes an HTTP request, and directories would list it under the wrong address.
  const { bazaar: _listing, ...rest } = route
  return rest
}

type InputQuote = { micro: Micro; problem: Problem | undefined; more?: true; unpriced?: true }

async function quoteFixed(
  { micro, more }: Extract<RoutePrice, { kind: 'fixed' }>,
  read: ReadInput,
): Promise<InputQuote> {
  const asked = read.problem ? undefined : await more?.of(read.input)
  if (more === undefined || asked === undefined) return { micro, problem: read.problem }
  if (asked < micro || asked > more.highestMicro) throw new RangeError('price outside its declared range')
  return { micro: asked, problem: undefined, more: true }
}

/** Input that cannot be priced has no price; a bare probe is quoted the lowest one. The gate takes no money for either. */
async function quoteOf(price: RoutePrice, read: ReadInput): Promise<InputQuote> {
  const lowest = price.kind === 'fixed' ? price.micro : price.lowestMicro
  try {
    if (price.kind === 'fixed') return await quoteFixed(price, read)
    if (read.problem) return { micro: lowest, problem: read.problem, unpriced: true }
    const micro = await price.of(read.input)
    if (micro < price.lowestMicro || micro > price.highestMicro)
      throw new RangeError('price outside its declared range')
    return { micro, problem: undefined }
  } catch (error) {
    return { micro: lowest, problem: asProblem(error), unpriced: true }
  }
}

/** The same call as an unpaid probe sees it: no credential, and no complaint about input nobody tried to give. */
export function asProbe(call: PaidCall, bare: boolean, dropCredentials: boolean): PaidCall {
  const hideProblem = bare && call.inputProblem !== undefined
  if (!hideProblem && !dropCredentials) return call
  const { inputProblem, unpriced, ...rest } = call
  return {
    ...rest,
    ...(inputProblem === undefined || hideProblem ? {} : { inputProblem }),
    ...(unpriced === undefined || hideProblem ? {} : { unpriced }),
    ...(dropCredentials ? { headers: new Map<string, string>() } : {}),
  }
}
