import { zeroAddress } from '@assay/protocol/address'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import { isSignedByWallet } from '@assay/protocol/keys/key-statement'
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

export type KeysAnswer =
  | { ok: true; keys: PeerKey[]; networkAddress: string; operator: string | undefined }
  | { ok: false; reason: string }

/** The keys that an address publishes for itself: anyone who cannot put a key there cannot speak for it. */
export async function readPeerKeys(fetcher: PeerFetcher, origin: string, signal?: AbortSignal): Promise<KeysAnswer> {
  const answer = await fetchJson(fetcher, `${origin}${keyDirectoryPath}`, keyDirectoryBytesMax, signal)
  if (!answer.ok) return answer
  const keys = keysIn(answer.value)
  if (keys === undefined) return { ok: false, reason: 'no_key_directory' }
  const operator = await operatorIn(answer.value, origin, keys)
  return { ok: true, keys, networkAddress: answer.networkAddress, operator }
}

/** The keys of a directory document; undefined where it is none. */
export function keysIn(document: unknown): PeerKey[] | undefined {
  const parsed = directory.safeParse(document)
  return parsed.success
    ? parsed.data.keys.slice(0, keysMax).map(({ kid, x, nbf = 0, exp }) => ({ kid, x, nbf, exp }))
    : undefined
}

const vouchersMax = 4

/** The wallet that signed for a key of this address. */
async function operatorIn(document: unknown, origin: string, keys: readonly PeerKey[]): Promise<string | undefined> {
  const vouchers = readDirectory(document).statements.filter(
    ({ message: { action, purpose, keyId, publicKey, node, api, operator } }) =>
      action !== 'revoke' &&
      purpose === 'response' &&
      (node === origin || api === origin) &&
      operator !== zeroAddress &&
      keys.some(({ kid, x }) => kid === keyId && x === publicKey),
  )
  for (const voucher of vouchers.slice(0, vouchersMax))
    if (await isSignedByWallet(voucher)) return voucher.message.operator
  return undefined
}
