import { type CloudEvent, createAssayClient, createIntents, followStream, type Intents } from '@assay/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { NodeIndex } from '../../node/node-index.ts'

/** A client that may spend nothing. */
const reader = (index: NodeIndex) =>
  createAssayClient({
    account: privateKeyToAccount(generatePrivateKey()),
    baseUrl: index.api_url,
    maxPerCallUsd: '0.000001',
    maxTotalUsd: '0',
  })

export const openIntents = (index: NodeIndex): Intents => createIntents(reader(index), { node: index.api_url })

/** Reads the stream until it is stopped. The token opens it; the client behind it may spend nothing. */
export async function follow(
  index: NodeIndex,
  token: string,
  signal: AbortSignal,
  heard: (event: CloudEvent) => void,
): Promise<void> {
  for await (const { event } of followStream(reader(index), {
    node: index.api_url,
    path: '/v1/market/intent-stream',
    token,
    signal,
  }))
    heard(event)
}
