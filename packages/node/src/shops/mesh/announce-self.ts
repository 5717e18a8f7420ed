import type { MeshDeps } from './deps.ts'
import { announcePath, briefBytesMax } from './limits.ts'
import type { OwnStatement } from './own-statement.ts'
import { signNodeRequest } from './sign-request.ts'
import { type PeerRow, recordAnnounced } from './store.ts'

/**
 * Tells a peer of this node, or of peers that went silent. What it answers does not matter: whether it listened shows at the
 * next visit.
 */
export async function announceSelf(
  deps: MeshDeps,
  peer: Pick<PeerRow, 'did' | 'address'>,
  own: OwnStatement,
  { signal, silent = [] }: { signal?: AbortSignal; silent?: readonly string[] } = {},
): Promise<boolean> {
  if (silent.length === 0) await recordAnnounced(deps.database, peer.did, deps.clock.nowMs())
  const reports = silent.length === 0 ? {} : { silent }
  const body = JSON.stringify({ address: deps.self.origin, statement: own.jws, ...reports })
  const authority = new URL(peer.address).host
  const answer = await deps.fetcher.fetch(`${peer.address}${announcePath}`, {
    method: 'POST',
    body,
    headers: signNodeRequest(deps, { authority, path: announcePath, body }),
    maxBytes: briefBytesMax,
    ...(signal === undefined ? {} : { signal }),
  })
  const taken = answer.status === 'ok' && answer.httpStatus === 200
  deps.metrics.count('mesh_announcements', { direction: 'out', outcome: taken ? 'ok' : 'refused' })
  return taken
}
