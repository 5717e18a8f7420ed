import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import type { MeshDeps } from './deps.ts'
import { openKnownStatement } from './known-statements.ts'
import { silentMax, viewMax } from './limits.ts'
import { type OwnStatement, ownStatement } from './own-statement.ts'
import { readReports } from './reported-store.ts'
import { type PeerRow, shownPeers } from './store.ts'

export type SeenPeer = PeerRow & { statement: string; content: MeshStatement; recommended: boolean }

/** The mesh as this node sees it at a moment. */
export type MeshView = {
  own: OwnStatement
  peers: readonly SeenPeer[]
  /** Peers that lately answered and then did not. */
  silent: readonly string[]
  /** When this node was last given evidence, and a declaration of an agent. */
  evidenceUntilMs: number
  agentsUntilMs: number
  readAtMs: number
}

/** Below this share of answered visits a peer is shown, and not recommended. */
export const healthyFrom = 0.6

export type MeshViews = {
  /** As of so long ago at most. */
  current(withinMs: number): Promise<MeshView>
  /** The same, a second if nothing is said, with all that this process changed. */
  upToDate(withinMs?: number): Promise<MeshView>
  /** What is shown to others has changed. */
  outdated(): void
  /** What was read last, without waiting; undefined before the first time. */
  latest(): MeshView | undefined
  refresh(): Promise<MeshView>
}

const freshMs = 1_000
/** A peer that was silent for longer is not reported any more. */
const silentForMs = 600_000

export function createMeshViews(deps: MeshDeps): MeshViews {
  let view: MeshView | undefined
  let reading: Promise<MeshView> | undefined
  let outdated = false
  const refresh = () => {
    if (reading === undefined) outdated = false
    reading ??= readView(deps, view)
      .then((read) => {
        view = read
        return read
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  const current = (withinMs: number) =>
    view !== undefined && deps.clock.monotonicMs() - view.readAtMs < withinMs ? Promise.resolve(view) : refresh()
  return {
    latest: () => view,
    refresh,
    current,
    upToDate: async (withinMs = freshMs) => {
      // Began before the change.
      if (outdated) await reading
      return outdated ? refresh() : current(withinMs)
    },
    outdated: () => {
      outdated = true
    },
  }
}

async function readView(deps: MeshDeps, before: MeshView | undefined): Promise<MeshView> {
  const nowMs = deps.clock.nowMs()
  const [rows, { ownJws, ...reports }, agentsUntilMs] = await Promise.all([
    shownPeers(deps, nowMs, viewMax, before?.peers),
    readReports(deps.database, nowMs - silentForMs, silentMax),
    deps.newestDeclarationMs(),
  ])
  const peers = rows.flatMap((row): SeenPeer[] => {
    const content = row.statement === undefined ? undefined : openKnownStatement(row.statement)
    if (row.statement === undefined || content === undefined) return []
    return [{ ...row, statement: row.statement, content, recommended: isRecommended(row) }]
  })
  const own = await ownStatement(deps, ownJws)
  return { own, peers, ...reports, agentsUntilMs, readAtMs: deps.clock.monotonicMs() }
}

/** A peer that lied about one price is not sent any customers. */
export function isRecommended(row: PeerRow): boolean {
  return row.state === 'alive' && row.health >= healthyFrom && row.priceMismatches.length === 0
}
