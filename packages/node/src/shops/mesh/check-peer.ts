import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { claimedKeyId, type PeerKey } from '@assay/protocol/mesh/statement'
import type { MeshDeps } from './deps.ts'
import { verifyKnownStatement } from './known-statements.ts'
import { readPeerKeys } from './read-peer-keys.ts'

export type KnownKeys = {
  did: string
  address: string
  sequence: number
  statement: string | undefined
  keys: readonly PeerKey[]
  keysReadAtMs: number
  networkAddress: string | undefined
  operator: string | undefined
}

export type KeysRead = {
  keys: readonly PeerKey[]
  readAtMs: number
  networkAddress: string | undefined
  operator: string | undefined
}

export type PeerCheck =
  | {
      ok: true
      statement: MeshStatement
      keys: readonly PeerKey[]
      keysReadAtMs: number
      networkAddress: string | undefined
      operator: string | undefined
    }
  | { ok: false; problem: string }

/** A key that was revoked must stop counting before long. */
const keysFreshMs = 300_000

/** Keys of the address, read again when they are old or do not hold the one that signed. */
export async function keysOfPeer(
  deps: MeshDeps,
  known: KnownKeys,
  keyId: string | undefined,
  signal?: AbortSignal,
): Promise<({ ok: true } & KeysRead) | { ok: false; problem: string }> {
  const nowMs = deps.clock.nowMs()
  const fresh = nowMs - known.keysReadAtMs < keysFreshMs && known.keys.some((key) => key.kid === keyId)
  const { networkAddress, operator } = known
  if (fresh) return { ok: true, keys: known.keys, readAtMs: known.keysReadAtMs, networkAddress, operator }
  const read = await readPeerKeys(deps.fetcher, known.address, signal)
  if (!read.ok) return { ok: false, problem: `keys: ${read.reason}` }
  const { ok, keys, networkAddress: from, operator: vouching } = read
  return { ok, keys, readAtMs: nowMs, networkAddress: from, operator: vouching }
}

/** Everything that must hold before a statement is kept: keys of the address, signature, time, order, no doubles. */
export async function checkPeerStatement(
  deps: MeshDeps,
  known: KnownKeys,
  jws: string,
  { signal, read }: { signal?: AbortSignal; read?: KeysRead } = {},
): Promise<PeerCheck> {
  const found = read ? { ok: true as const, ...read } : await keysOfPeer(deps, known, claimedKeyId(jws), signal)
  if (!found.ok) return found
  const { keys, networkAddress, operator } = found
  if (keys.some((key) => deps.keyring.keys().some((own) => own.keyId === key.kid)))
    return { ok: false, problem: 'self: this is the node itself under another name' }
  const verdict = await verifyKnownStatement(jws, { address: known.address, keys, nowMs: deps.clock.nowMs() })
  if (!verdict.ok) return { ok: false, problem: `statement: ${verdict.reason}` }
  const { statement } = verdict
  if (statement.sequence < known.sequence) return { ok: false, problem: 'statement: older than one seen before' }
  if (statement.sequence === known.sequence && known.statement !== undefined && known.statement !== jws)
    return { ok: false, problem: 'statement: another one of the same sequence' }
  // Proven with these very words, and the keys are not older than they may be.
  const proven = jws === known.statement && found.readAtMs === known.keysReadAtMs
  const signer = keys.find((key) => key.kid === verdict.keyId)
  const findPeer = proven ? undefined : await basePublishesKey(deps, statement, signer, signal)
  if (findPeer !== undefined) return { ok: false, problem: findPeer }
  return { ok: true, statement, keys, keysReadAtMs: found.readAtMs, networkAddress, operator }
}

/** What is offered at a second address counts only if that address knows the very key: names of keys are free to choose. */
async function basePublishesKey(
  deps: MeshDeps,
  statement: MeshStatement,
  signer: PeerKey | undefined,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (statement.base_url === statement.address) return undefined
  const base = await readPeerKeys(deps.fetcher, statement.base_url, signal)
  if (!base.ok) return `base_url keys: ${base.reason}`
  const known = base.keys.some(({ kid, x }) => kid === signer?.kid && x === signer.x)
  return known ? undefined : 'base_url does not publish the key of the statement'
}
