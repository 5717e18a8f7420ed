import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { ChainUnreadable } from './chain-port.ts'

export type RpcCall = { method: string; params: readonly unknown[] }

/** One JSON-RPC endpoint of one operator. Rejects with RpcRefusal when it answered with an error, otherwise when it did not answer. */
export type RpcEndpoint = { readonly name: string; send(calls: readonly RpcCall[]): Promise<unknown[]> }

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

export type Rpc = {
  /** The first endpoint that answers. For reads whose being wrong costs nobody money. */
  first(method: string, params: readonly unknown[]): Promise<unknown>
  /** Several calls in one round trip, all answered by the same endpoint. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>
  /** An answer that enough endpoints give alike; undefined when they do not agree (yet). */
  agreed(method: string, params: readonly unknown[], relevant?: (answer: unknown) => Json): Promise<unknown>
  /** What each endpoint says by itself, for what moves on while they are asked; those that are silent are left out. */
  each(method: string, params: readonly unknown[]): Promise<unknown[]>
  /** How many endpoints must stand behind an answer. */
  readonly quorum: number
}

/** Two of three, both of two, the one of one. */
export function quorumOf(endpoints: number): number {
  return Math.min(endpoints, 2)
}

export function createRpc(endpoints: readonly RpcEndpoint[], quorum = quorumOf(endpoints.length)): Rpc {
  if (endpoints.length === 0) throw new Error('at least one RPC endpoint is needed')

  async function batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const failures: string[] = []
    let refusal: RpcRefusal | undefined
    for (const endpoint of endpoints) {
      try {
        return await endpoint.send(calls)
      } catch (error) {
        if (error instanceof RpcRefusal) refusal = error
        failures.push(`${endpoint.name}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    if (refusal) throw refusal
    throw new ChainUnreadable(failures.join('; ').slice(0, 300))
  }

  const askAll = (method: string, params: readonly unknown[]) =>
    Promise.allSettled(endpoints.map(async (endpoint) => (await endpoint.send([{ method, params }]))[0]))

  return {
    quorum,
    batch,
    each: async (method, params) =>
      (await askAll(method, params)).flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])),
    first: async (method, params) => (await batch([{ method, params }]))[0],
    async agreed(method, params, relevant = (answer) => answer as Json) {
      if (quorum === 1) return (await batch([{ method, params }]))[0]
      const answers = await askAll(method, params)
      const votes = new Map<string, { count: number; answer: unknown }>()
      for (const answer of answers) {
        if (answer.status === 'rejected') continue
        const key = canonicalJson(relevant(answer.value) ?? null)
        const vote = votes.get(key) ?? { count: 0, answer: answer.value }
        vote.count += 1
        votes.set(key, vote)
        if (vote.count >= quorum) return vote.answer
      }
      if (votes.size === 0) throw new ChainUnreadable(`no endpoint answered ${method}`)
      return undefined
    },
  }
}
