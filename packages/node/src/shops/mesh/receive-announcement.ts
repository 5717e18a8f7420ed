import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { Problem } from '@assay/till/kernel/problem'
import type { CallContext } from '../../http/index.ts'
import { admitSeen, capabilitiesOf } from './admit-seen.ts'
import { checkPeerStatement, type KnownKeys, keysOfPeer } from './check-peer.ts'
import type { MeshDeps } from './deps.ts'
import { findPeer } from './store.ts'
import type { StrangerLimit } from './stranger-limit.ts'
import { readNodeRequest, refused } from './verify-node-request.ts'
import { firstPauseMs } from './visit-pause.ts'

export type Announcement = { address: string; statement: string; silent?: string[] | undefined }
export type AnnouncementAnswer = { did: string; address: string; accepted: true; sequence: number }

/**
 * Takes in a node that announces itself. Its keys are fetched from the address it names, so a node can only ever
 * announce itself; strangers are limited before that fetch, known nodes are not.
 */
export async function receiveAnnouncement(
  deps: MeshDeps,
  strangers: StrangerLimit,
  body: Announcement,
  call: Pick<CallContext, 'method' | 'received' | 'headers' | 'rawBody' | 'remoteAddress' | 'signal'>,
  pauseMs = deps.settings.visitEveryMs,
): Promise<AnnouncementAnswer> {
  const { database, clock } = deps
  const address = parseNodeAddress(body.address)
  if (address === undefined)
    throw new Problem('input_invalid', { detail: 'address must be the https origin of a node, without path.' })
  if (address.did === deps.self.did) throw refused('This is the address of this node itself.')
  const request = readNodeRequest({ ...call, ...call.received }, clock.nowMs())
  const row = await findPeer(database, address.did)
  const known: KnownKeys = row ?? {
    did: address.did,
    address: address.origin,
    sequence: 0,
    statement: undefined,
    keys: [],
    keysReadAtMs: 0,
    networkAddress: undefined,
    operator: undefined,
  }
  const knowsKey = known.keys.some((key) => key.kid === request.keyId)
  if (!knowsKey && !strangers.admit(call.remoteAddress)) throw new Problem('rate_limited', { retryAfterSeconds: 30 })
  const found = await keysOfPeer(deps, known, request.keyId, call.signal)
  if (!found.ok)
    throw new Problem('upstream_unavailable', {
      detail: `The announced address does not show its keys (${found.problem}).`,
      hint: 'The address must be reachable from here and serve its key directory.',
      retryAfterSeconds: 10,
    })
  if (!request.signedBy(found.keys)) throw refused('The announced address does not publish the key that signed this.')
  // Claimed after the signature check: claiming first would let a stranger burn the nonces of others.
  const nonce = { scope: 'mesh', key: `${address.did}:${request.nonce}`, expiresAtMs: request.expiresAtMs }
  if (!(await deps.claimNonce(nonce))) throw refused('This announcement has been used before.')
  const check = await checkPeerStatement(deps, known, body.statement, { signal: call.signal, read: found })
  if (!check.ok) throw refused(`The statement is not taken: ${check.problem}.`)
  const accepted = {
    did: address.did,
    address: address.origin,
    accepted: true,
    sequence: check.statement.sequence,
  } as const
  // Nothing is new about itself.
  if (row?.state === 'alive' && row.statement === body.statement) return accepted
  const nowMs = clock.nowMs()
  const answered = check.keysReadAtMs !== known.keysReadAtMs
  const problem = await admitSeen(
    deps,
    {
      did: address.did,
      address: address.origin,
      foundBy: 'announce',
      sequence: check.statement.sequence,
      statement: body.statement,
      expiresAtMs: Date.parse(check.statement.expires_at),
      keys: check.keys,
      keysReadAtMs: check.keysReadAtMs,
      operator: check.operator,
      capabilities: capabilitiesOf(check.statement),
      networkAddress: check.networkAddress,
      latencyMs: undefined,
    },
    // It said where it is; whether it serves there is seen at once, unless it has just shown its keys.
    answered ? nowMs + firstPauseMs(deps.rng, pauseMs) : nowMs,
  )
  if (problem !== undefined) throw refused(`The statement is not taken: ${problem}.`)
  deps.metrics.count('mesh_announcements', { direction: 'in', outcome: 'ok' })
  return accepted
}
