import { didWeb } from '../did.ts'

/** Where a node of the mesh is: its API_URL. The name follows from the address, so nobody can take another's. */
export type NodeAddress = { origin: string; did: string }

const addressCharsMax = 255
const loopbackHost = /^(?:127\.0\.0\.1|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+test)$/

/** An https origin; plain http only for this machine itself, which demo nodes alone ever ask. */
export function parseNodeAddress(text: unknown): NodeAddress | undefined {
  if (typeof text !== 'string' || text.length > addressCharsMax || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.origin !== text) return undefined
  const plain = url.protocol === 'http:' && loopbackHost.test(url.hostname)
  if (url.protocol !== 'https:' && !plain) return undefined
  return { origin: url.origin, did: didWeb(url.host) }
}

export const isLoopbackAddress = (origin: string) => origin.startsWith('http://127.0.0.1:')
