import { type AnswerOf, allPages, ask, callOperation, given, type OperationId, type RowOf } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { type FollowOptions, followStream, type StreamedEvent } from './follow-stream.ts'

export type IntentCluster = RowOf<'market.intents.clusters'>

/** Demand of one topic in one bucket of time. */
export type IntentTick = {
  cluster: IntentCluster
  starts_at: string
  ends_at: string
  /** Distinct agents, noisy. */
  demand: number
  /** Those of them with a bond, noisy; never more than `demand`. */
  bonded: number
  /** 95 of 100 figures are at most so many agents from the truth. */
  error_95: { demand: number; bonded: number }
  trend: { ewma: number; change_pct: number | null }
  rising: { term: string; demand: number; change_pct: number | null }[]
  privacy: { k: number; epsilon_bucket: string; noise_scale: number }
  /** Where the node shows what peers published beside its own: `own` is `demand` and `bonded` again. */
  own?: { demand: number; bonded: number }
  peers?: { demand: number; nodes: number }
  synthetic: boolean
}

export type IntentSample = AnswerOf<'market.intents.sample'>
export type IntentSignal = AnswerOf<'market.intents.signal'>

export type IntentStreamOptions = Omit<FollowOptions, 'node' | 'path'> & { clusters?: readonly string[] }

export type Intents = {
  /** Free: one hour, a day old. */
  sample(): Promise<IntentSample>
  clusters(): Promise<AnswerOf<'market.intents.clusters'>>
  /** Free: what the figures of the last day were worth, and what they would be worth by traffic. */
  signal(): Promise<IntentSignal>
  /** For a browser: an address that the native EventSource can open, for a minute. */
  ticket(token: string): Promise<AnswerOf<'market.intents.ticket'>>
  /** All since the subscription began as files by day, and one of them: signed events, one a line. */
  files(token: string): Promise<AnswerOf<'market.intents.files'>>
  file(token: string, file: string): Promise<string>
  /** Demand of one topic since the subscription began, oldest first. */
  series(token: string, cluster: string): Promise<RowOf<'market.intents.series'>[]>
  /** Comes back by itself; never pays unless `buy` is set, and then once. */
  stream(options?: IntentStreamOptions): AsyncGenerator<StreamedEvent>
}

/** The intent stream of a node, over a client that pays and verifies. */
export function createIntents(
  client: Pick<AssayClient, 'fetch' | 'quote' | 'pinnedKeys'>,
  { node }: { node: string },
): Intents {
  const path = '/v1/market/intent-stream'
  const bearer = (token: string) => ({ baseUrl: node, headers: { authorization: `Bearer ${token}` } })
  const asSubscriber = async <Id extends OperationId>(
    id: Id,
    input: Parameters<typeof callOperation<Id>>[2],
    token: string,
  ) => (await callOperation(client, id, input, bearer(token))).data
  return {
    ticket: (token) => asSubscriber('market.intents.ticket', {}, token),
    files: (token) => asSubscriber('market.intents.files', {}, token),
    file: async (token, file) => {
      const { headers } = bearer(token)
      const url = new URL(`${path}/files/${encodeURIComponent(file)}`, node)
      const result = await client.fetch(url, { headers: { ...headers, accept: 'application/x-ndjson' } })
      return result.response.ok ? result.response.text() : readJson(result)
    },
    series: (token, cluster) =>
      allPages((after) => asSubscriber('market.intents.series', { query: { cluster, ...given({ after }) } }, token)),
    sample: () => ask(client, node, 'market.intents.sample', { query: { limit: 500 } }),
    clusters: () => ask(client, node, 'market.intents.clusters', {}),
    signal: () => ask(client, node, 'market.intents.signal', {}),
    stream: ({ clusters, ...options } = {}) => {
      const query = clusters === undefined ? '' : `?cluster=${clusters.map(encodeURIComponent).join(',')}`
      return followStream(client, { ...options, node, path: `${path}${query}` })
    },
  }
}

/** The figures of an event that has them. */
export function tickOf({ name, event }: StreamedEvent): IntentTick | undefined {
  return name === 'tick' ? (event.data as unknown as IntentTick) : undefined
}
