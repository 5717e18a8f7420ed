import type { Micro } from '@assay/protocol/money'
import type { PaidCall } from '../contract/paid-call.ts'
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
  return {
    route: paid.route,
    method: context.method,
    resourceUrl: context.resourceUrl,
    contentType: context.headers.get('content-type') ?? '',
    received: context.received,
    rawBody: context.rawBody,
    bodyDigest: digestBody(context.rawBody),
    representation: context.representation,
    priceMicro: quote.micro,
    attribution: context.attribution,
    headers: context.headers,
    remoteAddress: context.remoteAddress,
    clientGone: context.signal,
    ...(quote.problem === undefined ? {} : { inputProblem: quote.problem }),
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

/** Input that cannot be priced is quoted the lowest price; the gate refuses to take money for it anyway. */
async function quoteOf(price: RoutePrice, read: ReadInput): Promise<{ micro: Micro; problem: Problem | undefined }> {
  if (price.kind === 'fixed') return { micro: price.micro, problem: read.problem }
  if (read.problem) return { micro: price.lowestMicro, problem: read.problem }
  try {
    const micro = await price.of(read.input)
    if (micro < price.lowestMicro || micro > price.highestMicro)
      throw new RangeError('price outside its declared range')
    return { micro, problem: undefined }
  } catch (error) {
    return { micro: price.lowestMicro, problem: asProblem(error) }
  }
}

/** The same call as an unpaid probe sees it: no credential, and no complaint about input nobody tried to give. */
export function asProbe(call: PaidCall, bare: boolean, dropCredentials: boolean): PaidCall {
  const hideProblem = bare && call.inputProblem !== undefined
  if (!hideProblem && !dropCredentials) return call
  const { inputProblem, ...rest } = call
  return {
    ...rest,
    ...(inputProblem === undefined || hideProblem ? {} : { inputProblem }),
    ...(dropCredentials ? { headers: new Map<string, string>() } : {}),
  }
}
