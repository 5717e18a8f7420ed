import { parseAddress } from '@assay/protocol/address'
import { parseJsonObject } from '@assay/protocol/json-object'
import { isLoopbackHost } from '@assay/protocol/loopback'
import type { Micro } from '@assay/protocol/money'
import type { Facilitator, FacilitatorPayment, Settlers, SupportedKind } from '../../contract/facilitator.ts'
import type { Log } from '../../kernel/log.ts'
import { type Metrics, traced } from '../../kernel/metrics.ts'
import { isExact } from '../exact-payment.ts'
import { isCarriedBy, isPermit2, permit2Scheme } from '../permit2-payment.ts'
import { classifySettle, classifyVerify } from './classify-answer.ts'
import { type HttpExchange, type HttpExchangeResult, nodeHttpExchange } from './http-exchange.ts'
import { facilitatorBody } from './payment-wire.ts'

export type HttpFacilitatorOptions = {
  name?: string
  /** Base URL of `/verify`, `/settle` and `/supported`. https, or http on this machine. */
  baseUrl: string
  log: Log
  metrics: Metrics
  /** Made again for each call, for keys that sign method and path. */
  headersFor?(method: 'GET' | 'POST', url: URL): Record<string, string>
  /** What one settlement costs; asked after the facilitator reported success. */
  feeMicro?(): Promise<Micro>
  settleTimeoutMs?: number
  timeoutMs?: number
  exchange?: HttpExchange
}

const bodyBytesMax = 64 * 1024

/** Says what to correct; shown to the operator at start. */
export class FacilitatorConfigError extends Error {
  override readonly name = 'FacilitatorConfigError'
}

/** Any x402 v2 facilitator by its address. */
export function createHttpFacilitator(options: HttpFacilitatorOptions): Facilitator {
  const name = options.name ?? 'http'
  const base = checkedBase(options.baseUrl)
  const exchange = options.exchange ?? nodeHttpExchange

  const call = (path: string, payment: FacilitatorPayment | undefined, timeoutMs: number, signal: AbortSignal) => {
    const url = new URL(`${base}${path}`)
    const method = payment ? 'POST' : 'GET'
    return traced(options.metrics, `facilitator ${path.slice(1)}`, { facilitator: name }, () =>
      exchange({
        method,
        url: url.href,
        headers: {
          accept: 'application/json',
          ...(payment ? { 'content-type': 'application/json' } : {}),
          ...options.headersFor?.(method, url),
        },
        ...(payment ? { body: facilitatorBody(payment) } : {}),
        timeoutMs,
        bodyBytesMax,
        signal,
      }),
    )
  }

  const watched = (operation: string, result: HttpExchangeResult): HttpExchangeResult => {
    if (result.status === 'answered' && (result.code === 401 || result.code === 403)) {
      options.log.error(
        { facilitator: name, operation, status: result.code },
        'the facilitator does not accept our key',
      )
      options.metrics.count('alarms', { alarm: 'facilitator_unauthorized' })
    }
    return result
  }

  const supported = async (signal: AbortSignal) => {
    const result = watched('supported', await call('/supported', undefined, options.timeoutMs ?? 10_000, signal))
    const fields = result.status === 'answered' && result.code === 200 ? parseJsonObject(result.body) : undefined
    if (!fields || !Array.isArray(fields.kinds))
      throw new Error(`the facilitator ${name} does not say what it supports`)
    return { kinds: fields.kinds.filter(isKind), signers: readSigners(fields.signers) }
  }
  let kinds: readonly SupportedKind[] = []
  const settlersOf: Facilitator['settlersOf'] = (scheme, network) => settlersIn(kinds, scheme, network)

  return {
    name,
    carries(payment) {
      // Every facilitator takes plain authorizations; anything else it has said.
      if (isExact(payment)) return true
      if (!isPermit2(payment)) return kinds.some((kind) => isOfKind(kind, payment))
      return (
        payment.permit2.tokenPermit === undefined && isCarriedBy(payment, settlersOf(permit2Scheme, payment.network))
      )
    },
    settlersOf,
    async refresh(signal) {
      kinds = (await supported(signal)).kinds
    },
    ...(options.feeMicro === undefined ? {} : { settlementFee: options.feeMicro }),
    async verify(payment, signal) {
      return classifyVerify(watched('verify', await call('/verify', payment, options.timeoutMs ?? 10_000, signal)))
    },
    async settle(payment, signal) {
      const answer = classifySettle(
        watched('settle', await call('/settle', payment, options.settleTimeoutMs ?? 60_000, signal)),
      )
      if (answer.status !== 'refused')
        options.log.info({ facilitator: name, paymentId: payment.paymentId, ...answer }, 'settle answered')
      if (answer.status !== 'submitted') return answer
      // The money is on its way: whatever goes wrong with the bookkeeping of fees must not hide that.
      const feeMicro = (await options.feeMicro?.().catch(() => 0n)) ?? 0n
      return { ...answer, feeMicro }
    },
    supported,
  }
}

function settlersIn(kinds: readonly SupportedKind[], scheme: string, network: string): Settlers | undefined {
  const wallets = kinds
    .filter((kind) => isOfKind(kind, { scheme, network }))
    .flatMap(({ extra }) => parseAddress(extra?.['facilitatorAddress']) ?? [])
  return wallets.length === 0 ? undefined : { wallets: wallets.slice(-1), extensions: [] }
}

const isOfKind = (kind: SupportedKind, { scheme, network }: Pick<FacilitatorPayment, 'scheme' | 'network'>): boolean =>
  kind.x402Version === 2 && kind.scheme === scheme && kind.network === network

function checkedBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new FacilitatorConfigError('the facilitator URL must begin with https://')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new FacilitatorConfigError(
      'the facilitator URL must be https: signed payments would cross the network in the open',
    )
  if (url.username || url.password || url.search || url.hash)
    throw new FacilitatorConfigError('the facilitator URL must have no user, password, query or fragment')
  return url.href.replace(/\/+$/, '')
}

function isKind(value: unknown): value is SupportedKind {
  const kind = value as Partial<SupportedKind> | null
  return (
    typeof kind === 'object' &&
    kind !== null &&
    typeof kind.scheme === 'string' &&
    typeof kind.network === 'string' &&
    typeof kind.x402Version === 'number'
  )
}

function readSigners(value: unknown): Record<string, string[]> {
  if (typeof value !== 'object' || value === null) return {}
  const lists = Object.entries(value).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  return Object.fromEntries(lists.map(([family, list]) => [family, list.filter((one) => typeof one === 'string')]))
}
