import type { OutboundOutcome, OutboundRequest } from '../../outbound/index.ts'

export type PeerWitness = { did: string; url: string; key: string; health: number }

/** What the mesh knows of the logs and witnesses of peers. The mesh is another shop: it is given at composition. */
export type PeerLogs = {
  /** An SQL condition that holds while there are any. */
  anybodySql: string
  findLog(origin: string): Promise<{ did: string; origin: string; keys: readonly string[] } | undefined>
  /** Those with these keys, and some of the others: however many strangers there are, they hide nobody who is known. */
  witnesses(known: readonly string[]): Promise<PeerWitness[]>
  /** The safe fetcher, without redirects, with a time limit. */
  fetch(url: string, request: Omit<OutboundRequest, 'redirectsMax' | 'totalMs'>): Promise<OutboundOutcome>
}

/** A node without a mesh has no peers. */
export const noPeers: PeerLogs = {
  anybodySql: 'false',
  findLog: async () => undefined,
  witnesses: async () => [],
  fetch: async (url) => ({ status: 'failed', reason: 'connect', detail: 'no mesh', url, retryable: false }),
}
