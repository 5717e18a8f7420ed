import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { askHedged, inTurn, type OperatorAnswers } from './ask-hedged.ts'
import { isProbeDue } from './endpoint-health.ts'
import { operatorOf, type Rpc, type RpcCall, type RpcEndpoint } from './rpc.ts'
import { type WatchOptions, watchEndpoint } from './watch-endpoint.ts'

export type RpcOptions = WatchOptions & { quorum?: number }

/** Two of three, both of two, the one of one: counted over operators. */
export const quorumOf = (operators: number): number => Math.min(operators, 2)

/**
 * What enough operators say turns buyers away, undoes and ends payments and moves cursors on. All of them could have been led
 * to another chain since they were last asked for it, where every balance is nothing, no payment was ever made and every block
 * is another one. So it is proven in the same request, except where nothing depends on it alone.
 */
const mustProveChainId = (calls: readonly RpcCall[]): boolean =>
  calls.some(
    ({ method, params }) =>
      method === 'eth_call' ||
      method === 'eth_getLogs' ||
      (method === 'eth_getBlockByNumber' && params[0] !== 'latest'),
  )
const decisiveCheckMaxAgeMs = 30_000

export function createRpc(given: readonly RpcEndpoint[], options: RpcOptions): Rpc {
  if (given.length === 0) throw new Error('at least one RPC endpoint is needed')
  const { clock } = options
  const endpoints = given.map((endpoint) => watchEndpoint(endpoint, options))
  const quorum = options.quorum ?? quorumOf(new Set(given.map(operatorOf)).size)

  const batch: Rpc['batch'] = async (calls, accept) => {
    const answers = await askHedged({
      clock,
      endpoints,
      calls,
      quorum: 1,
      decide: (received, complete) =>
        accept && !complete ? received.find((one) => accept(one.answers))?.answers : received[0]?.answers,
    })
    return answers as unknown[]
  }

  const askQuorum = <T>(
    calls: readonly RpcCall[],
    decide: (received: readonly OperatorAnswers[], complete: boolean) => T | undefined,
    isProven = mustProveChainId(calls),
  ) => {
    const nowMs = clock.monotonicMs()
    // The ones asked now report their health anyway.
    for (const endpoint of inTurn(endpoints, nowMs).slice(quorum))
      if (isProbeDue(endpoint.health(), nowMs)) endpoint.probe()
    const chainCheckMaxAgeMs = isProven ? 0 : decisiveCheckMaxAgeMs
    return askHedged({ clock, endpoints, calls, quorum, chainCheckMaxAgeMs, decide })
  }

  const agreedBatch: Rpc['agreedBatch'] = async (
    calls,
    relevant = (answer) => answer as Json,
    choose = ([first]) => first,
  ) => {
    const decide = (received: readonly OperatorAnswers[]) => {
      const agreeing = findAgreed(received, quorum, relevant)
      return agreeing && calls.map((_, index) => choose(agreeing.map(({ answers }) => answers[index])))
    }
    const agreed = await askQuorum(calls, decide)
    // A receipt is of its own chain; that there is none is what every other chain says.
    const isProven = mustProveChainId(calls) || !agreed?.includes(null)
    return isProven ? agreed : askQuorum(calls, decide, true)
  }

  return {
    quorum,
    // The only one is asked whatever it did before.
    endpoints: endpoints.length === 1 ? endpoints.map((endpoint) => ({ ...endpoint, send: endpoint.ask })) : endpoints,
    batch,
    first: async (method, params) => (await batch([{ method, params }]))[0],
    collect: (method, params, decide) =>
      askQuorum([{ method, params }], (received, complete) =>
        decide(
          received.map(({ answers }) => answers[0]),
          complete,
        ),
      ),
    agreedBatch,
    async agreed(method, params, ...how) {
      return (await agreedBatch([{ method, params }], ...how))?.[0]
    },
  }
}

/** Undefined for what is not of the form that was asked for. */
function keyOf({ answers }: OperatorAnswers, relevant: (answer: unknown) => Json): string | undefined {
  try {
    return canonicalJson(answers.map((answer) => relevant(answer) ?? null))
  } catch {
    return undefined
  }
}

/** Those that said otherwise are doubted from now on, whether they lag or lie. */
function findAgreed(
  received: readonly OperatorAnswers[],
  quorum: number,
  relevant: (answer: unknown) => Json,
): OperatorAnswers[] | undefined {
  const votes = new Map<string, OperatorAnswers[]>()
  for (const one of received) {
    const key = keyOf(one, relevant)
    if (key === undefined) continue
    votes.set(key, [...(votes.get(key) ?? []), one])
  }
  const agreed = [...votes.values()].find((same) => same.length >= quorum)
  if (!agreed) return undefined
  for (const { endpoint } of received.filter((one) => !agreed.includes(one))) endpoint.contradicted()
  return agreed
}
