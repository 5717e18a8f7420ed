import { followDirectory, type KeySet, readDirectory } from '@assay/protocol/keys/key-directory'
import { readLimited } from '@assay/protocol/read-limited'
import { type SentRequest, type Verification, verifyResponse } from '@assay/protocol/signatures/verify-response'
import { AssayError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { defaultPlatform, type Platform } from './platform.ts'

/** Keys per origin: pinned at first use, or given; later keys must be vouched for by earlier ones. */
export type KeyPins = {
  verify(request: SentRequest, received: Exchange): Promise<Verification>
  keysOf(origin: string): KeySet | undefined
  /** The directory document behind the keys, to keep with an answer. */
  directoryOf(origin: string): unknown
}

export type KeyPinOptions = {
  platform: Platform
  /** Origin to key directory JSON, from an earlier visit or another channel. */
  given?: Readonly<Record<string, unknown>>
  /** Wallet of the operator: it may name new keys even when all old ones are lost. */
  operator?: string
}

const directoryPath = '/.well-known/http-message-signatures-directory'
const directoryBytesMax = 262_144

export function createKeyPins({ platform, given = {}, operator }: KeyPinOptions): KeyPins {
  const pins = new Map<string, KeySet>()
  const documents = new Map<string, unknown>(Object.entries(given))
  for (const [origin, directory] of documents) pins.set(origin, toKeySet(directory))

  const refresh = async (origin: string): Promise<KeySet> => {
    const document = await fetchDirectory(origin, platform)
    const pinned = pins.get(origin)
    const vouching = operator === undefined ? undefined : { wallet: operator, node: origin }
    const next = pinned === undefined ? toKeySet(document) : await followDirectory(pinned, document, vouching)
    pins.set(origin, next)
    documents.set(origin, document)
    return next
  }

  return {
    keysOf: (origin) => pins.get(origin),
    directoryOf: (origin) => documents.get(origin),
    verify: async (request, received) => {
      if (!received.headers.has('signature-input')) return { status: 'unsigned' }
      const { origin } = new URL(request.url)
      const check = (keys: KeySet) => verifyResponse(request, received, { keys, nowMs: platform.nowMs() })
      const first = await check(pins.get(origin) ?? (await refresh(origin)))
      return first.status === 'unknown_key' ? check(await refresh(origin)) : first
    },
  }
}

function toKeySet(directory: unknown): KeySet {
  return new Map(readDirectory(directory).keys.map((key) => [key.keyId, key]))
}

/** The key directory a node publishes, as JSON. */
export async function fetchDirectory(
  origin: string,
  platform: Pick<Platform, 'fetch'> = defaultPlatform,
): Promise<unknown> {
  try {
    const response = await platform.fetch(new Request(`${origin}${directoryPath}`, { redirect: 'error' }))
    const bytes = await readLimited(response.body, directoryBytesMax)
    if (response.status !== 200 || bytes === 'too_large') throw new Error(`status ${response.status}`)
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new AssayError('keys_unavailable', { detail: `${origin}${directoryPath}` }, error)
  }
}
