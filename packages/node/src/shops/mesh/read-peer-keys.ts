import type { PeerKey } from '@assay/protocol/mesh/statement'
import { keyDirectoryPath } from '@assay/till/signing'
import { z } from 'zod'
import { keyDirectoryBytesMax } from './limits.ts'
import { fetchJson, type PeerFetcher } from './peer-fetcher.ts'

const keysMax = 16

const directory = z.object({
  keys: z
    .array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        kid: z.string().min(1).max(64),
        x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
        nbf: z.number().optional(),
        exp: z.number().optional(),
      }),
    )
    .max(256),
})

export type KeysAnswer = { ok: true; keys: PeerKey[]; networkAddress: string } | { ok: false; reason: string }

/** The keys that an address publishes for itself: anyone who cannot put a key there cannot speak for it. */
export async function readPeerKeys(fetcher: PeerFetcher, origin: string, signal?: AbortSignal): Promise<KeysAnswer> {
  const answer = await fetchJson(fetcher, `${origin}${keyDirectoryPath}`, keyDirectoryBytesMax, signal)
  if (!answer.ok) return answer
  const parsed = directory.safeParse(answer.value)
  if (!parsed.success) return { ok: false, reason: 'no_key_directory' }
  const keys = parsed.data.keys.slice(0, keysMax).map(({ kid, x, nbf = 0, exp }) => ({ kid, x, nbf, exp }))
  return { ok: true, keys, networkAddress: answer.networkAddress }
}
