import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { openStatement } from '@assay/protocol/mesh/statement'
import type { MeshDeps } from './deps.ts'
import { silentMax, viewMax } from './limits.ts'
import { type OwnStatement, ownStatement } from './own-statement.ts'
import { silentPeers } from './reported-store.ts'
import { type PeerRow, shownPeers } from './store.ts'

export type SeenPeer = PeerRow & { statement: string; content: MeshStatement; recommended: boolean }

/** The mesh as this node sees it at a moment. */
export type MeshView = {
  own: OwnStatement
  peers: readonly SeenPeer[]
  /** Peers that lately answered and then did not. */
  silent: readonly string[]
  readAtMs: number
}

/** Below this share of answered visits a peer is shown, and not recommended. */
export const healthyFrom = 0.6

export type MeshViews = {
  /** As of a second ago at most. */
  current(): Promise<MeshView>
  /** What was read last, without waiting; undefined before the first time. */
  latest(): MeshView | undefined
  refresh(): Promise<MeshView>
}

const freshMs = 500
/** Who was silent for longer needs no more telling. */
const silentForMs = 600_000

export function createMeshViews(deps: MeshDeps): MeshViews {
  let view: MeshView | undefined
  let reading: Promise<MeshView> | undefined
  const refresh = () => {
    reading ??= readView(deps)
      .then((read) => {
        view = read
        return read
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  return {
    latest: () => view,
    refresh,
    current: () =>
      view !== undefined && deps.clock.monotonicMs() - view.readAtMs < freshMs ? Promise.resolve(view) : refresh(),
  }
}

async function readView(deps: MeshDeps): Promise<MeshView> {
  const nowMs = deps.clock.nowMs()
  const [own, rows, silent] = await Promise.all([
    ownStatement(deps),
    shownPeers(deps, nowMs, viewMax),
    silentPeers(deps.database, nowMs - silentForMs, silentMax),
  ])
  const peers = rows.flatMap((row): SeenPeer[] => {
    const content = row.statement === undefined ? undefined : openStatement(row.statement)
    if (row.statement === undefined || content === undefined) return []
    return [{ ...row, statement: row.statement, content, recommended: isRecommended(row) }]
  })
  return { own, peers, silent, readAtMs: deps.clock.monotonicMs() }
}

/** A peer that lied about one price is not sent any customers. */
export function isRecommended(row: PeerRow): boolean {
  return row.state === 'alive' && row.health >= healthyFrom && row.priceMismatches.length === 0
}
