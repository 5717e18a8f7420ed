import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { askHedged, type Voice } from './ask-hedged.ts'
import { isProbeDue } from './endpoint-health.ts'
import { operatorOf, type Rpc, type RpcEndpoint } from './rpc.ts'
import { type WatchedEndpoint, type WatchOptions, watchEndpoint } from './watch-endpoint.ts'

export type RpcOptions = WatchOptions & { quorum?: number }

/** Two of three, both of two, the one of one: counted over operators. */
export const quorumOf = (operators: number): number => Math.min(operators, 2)

/**
 * What enough operators say turns buyers away, ends payments and moves cursors on. All of them could have been led to another
 * chain since they were last asked for it, where every balance is nothing and no payment was ever made.
 */
const decisiveVettedMs = (method: string) => vettedMsOf.get(method) ?? 30_000
/** Of these, nothing is an answer like any other: no balance, no use of a key, no transfer. By a call buyers are turned away. */
const vettedMsOf = new Map([
  ['eth_call', 0],
  ['eth_getLogs', 2_000],
])

export function createRpc(given: readonly RpcEndpoint[], options: RpcOptions): Rpc {
  if (given.length === 0) throw new Error('at least one RPC endpoint is needed')
  const { clock } = options
  const endpoints = given.map((endpoint) => watchEndpoint(endpoint, options))
  const quorum = options.quorum ?? quorumOf(new Set(given.map(operatorOf)).size)

  const batch: Rpc['batch'] = async (calls, accept) => {
    if (endpoints.length === 1) return (endpoints[0] as WatchedEndpoint).ask(calls)
    const answers = await askHedged({
      clock,
      endpoints,
      calls,
      voices: 1,
      decide: (voices, complete) =>
        accept && !complete ? voices.find((voice) => accept(voice.answers))?.answers : voices[0]?.answers,
    })
    return answers as unknown[]
  }

  const hear = <T>(
    method: string,
    params: readonly unknown[],
    decide: (voices: readonly Voice[], complete: boolean) => T | undefined,
  ) => {
    const nowMs = clock.monotonicMs()
    for (const endpoint of endpoints) if (endpoints.length > 1 && isProbeDue(endpoint.health(), nowMs)) endpoint.probe()
    const calls = [{ method, params }]
    return askHedged({ clock, endpoints, calls, voices: quorum, vettedMsMax: decisiveVettedMs(method), decide })
  }

  return {
    quorum,
    // The only one is asked whatever it did before.
    endpoints: endpoints.length === 1 ? endpoints.map((endpoint) => ({ ...endpoint, send: endpoint.ask })) : endpoints,
    batch,
    first: async (method, params) => (await batch([{ method, params }]))[0],
    collect: (method, params, decide) =>
      hear(method, params, (voices, complete) =>
        decide(
          voices.map(({ answers }) => answers[0]),
          complete,
        ),
      ),
    async agreed(method, params, relevant = (answer) => answer as Json, choose = ([first]) => first) {
      const alike = await hear(method, params, (voices) => majority(voices, quorum, relevant))
      return alike && choose(alike.map(({ answers }) => answers[0]))
    },
  }
}

/** Undefined for what is not of the form that was asked for. */
function keyOf({ answers }: Voice, relevant: (answer: unknown) => Json): string | undefined {
  try {
    return canonicalJson(relevant(answers[0]) ?? null)
  } catch {
    return undefined
  }
}

/** Those that said otherwise are doubted from now on, whether they lag or lie. */
function majority(voices: readonly Voice[], quorum: number, relevant: (answer: unknown) => Json): Voice[] | undefined {
  const votes = new Map<string, Voice[]>()
  for (const voice of voices) {
    const key = keyOf(voice, relevant)
    if (key === undefined) continue
    votes.set(key, [...(votes.get(key) ?? []), voice])
  }
  const winner = [...votes.values()].find((same) => same.length >= quorum)
  if (!winner) return undefined
  for (const { endpoint } of voices.filter((voice) => !winner.includes(voice))) endpoint.contradicted()
  return winner
}
