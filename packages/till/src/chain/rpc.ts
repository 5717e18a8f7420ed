import type { Json } from '@assay/protocol/canonical-json'
import { ChainUnreadable } from './chain-port.ts'

export type RpcCall = { method: string; params: readonly unknown[] }

const heavyMethods = new Set(['eth_getLogs', 'eth_sendRawTransaction'])
/** Takes as long as there is to tell: that says nothing about the endpoint. */
export const isHeavy = ({ method }: RpcCall): boolean => heavyMethods.has(method)

/** One JSON-RPC endpoint, named by its host. Rejects with RpcRefusal when it answered with an error, otherwise when it did not answer. */
export type RpcEndpoint = { readonly name: string; send(calls: readonly RpcCall[]): Promise<unknown[]> }

/** Who runs an endpoint. URLs at one host are one upstream, however many ports, keys or paths there are: together they have one vote. */
export const operatorOf = ({ name }: Pick<RpcEndpoint, 'name'>): string => name.toLowerCase().replace(/:\d+$/, '')

/**
 * The endpoint answered, and its answer was an error: asking another one may still help. Where the question was about
 * the state of the chain (a provider that limits its callers, a node that lags), it is a read that gave no answer.
 */
export class RpcRefusal extends ChainUnreadable {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The endpoint ran the call and it failed, as opposed to one that did not run it. */
export const isRevert = (error: unknown): error is RpcRefusal =>
  error instanceof RpcRefusal && (error.code === 3 || /revert|out of gas|gas required|exceeds/i.test(error.message))

/** The endpoint takes no more calls for now. */
export class RpcRateLimited extends Error {
  override readonly name = 'RpcRateLimited'
  readonly retryAfterMs: number | undefined

  constructor(retryAfterMs?: number) {
    super('HTTP 429')
    this.retryAfterMs = retryAfterMs
  }
}

/** What the operators said so far, one answer each; `complete` once nobody else can be asked. Undefined asks on. */
export type Decide<T> = (answers: readonly unknown[], complete: boolean) => T | undefined

type HowToAgree = [relevant?: (answer: unknown) => Json, choose?: (alike: readonly unknown[]) => unknown]

export type Rpc = {
  /** The first endpoint that answers. For reads whose being wrong costs nobody money. */
  first(method: string, params: readonly unknown[]): Promise<unknown>
  /** Several calls in one round trip, all answered by the same endpoint; the next is asked while `accept` says no. */
  batch(calls: readonly RpcCall[], accept?: (answers: readonly unknown[]) => boolean): Promise<unknown[]>
  /** An answer that enough operators give alike, `choose` says whose; undefined when they do not agree (yet). */
  agreed(method: string, params: readonly unknown[], ...how: HowToAgree): Promise<unknown>
  /** The same for several calls in one round trip: all of them alike, or none. */
  agreedBatch(calls: readonly RpcCall[], ...how: HowToAgree): Promise<readonly unknown[] | undefined>
  /** For what moves on while it is read: asks as many operators as must agree, and further ones until it is decided. */
  collect<T>(method: string, params: readonly unknown[], decide: Decide<T>): Promise<T | undefined>
  /** How many operators must agree on an answer. */
  readonly quorum: number
  /** For what is asked of all of them. One that is paused after failures rejects `send` at once; `ask` tries all the same. */
  readonly endpoints: readonly (RpcEndpoint & { ask: RpcEndpoint['send'] })[]
}
