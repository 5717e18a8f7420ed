import { isSignedByLog } from '@assay/protocol/log/checkpoint'
import { makeForkEvidence } from './make-fork-evidence.ts'
import { type GrowthVerdict, proveGrowth } from './prove-growth.ts'
import { type Head, parseHead } from './read-head.ts'
import { TileError, type TileSource } from './tile-source.ts'
import type { Finding } from './types.ts'

/** A head of the log as somebody else has it: a mirror, a witness, a transaction. */
export type View = { source: string; note: string; tiles?: TileSource }

export type ComparedView = {
  source: string
  size: number | null
  verdict: 'agrees' | 'ahead' | 'fork' | 'unusable'
  finding?: Finding
  evidence?: ReturnType<typeof makeForkEvidence>
}

export type Own = { head: Head; source: string; keys: readonly string[]; tiles: readonly TileSource[] }

/**
 * A checkpoint may come from a cache that is a few seconds old, so one check says nothing. A log that still shows less
 * than somebody had seen at the check before hides something.
 */
export function checkBehind(source: string, seenBefore: number | null | undefined, shown: number): Finding[] {
  if (seenBefore == null || shown >= seenBefore) return []
  const detail = `${source} saw size ${seenBefore} at the last check, the log itself still shows ${shown}`
  return [{ kind: 'behind', severity: 'warning', detail }]
}

/** Compares what somebody else saw with what this monitor verified. */
export async function compareView(own: Own, view: View, seenAt: string): Promise<ComparedView> {
  const head = parseHead(view.note)
  const unusable = (detail: string): ComparedView => ({
    source: view.source,
    size: null,
    verdict: 'unusable',
    finding: { kind: 'view_unusable', severity: 'warning', detail: `${view.source}: ${detail}` },
  })
  if (!head || head.origin !== own.head.origin) return unusable('not a head of this log')
  if (!(await isSignedByLog(head, own.keys))) return unusable('not signed by a key of this log')
  const { size } = head
  const ahead = size > own.head.size
  const [smaller, larger] = ahead ? [own, { head, source: view.source }] : [{ head, source: view.source }, own]
  const verdict = await firstProof([...own.tiles, ...(view.tiles ? [view.tiles] : [])], smaller.head, larger.head)
  if (verdict.kind === 'fork')
    return {
      source: view.source,
      size,
      verdict: 'fork',
      finding: { kind: 'fork', severity: 'alarm', detail: forkText(view.source, smaller.head, larger.head) },
      evidence: makeForkEvidence(smaller, larger, verdict, own.keys, seenAt),
    }
  if (ahead) return { source: view.source, size, verdict: 'ahead' }
  if (verdict.kind === 'unproven') return unusable(`it could not be compared: ${verdict.reason}`)
  return { source: view.source, size, verdict: 'agrees' }
}

const forkText = (source: string, a: Head, b: Head) =>
  a.size === b.size
    ? `the log signed two trees of size ${a.size}; the other one is at ${source}`
    : `the log signed a tree of size ${b.size} that does not begin with the one of size ${a.size} it signed; the other one is at ${source}`

/** The first source whose tiles show anything. */
export async function firstProof(sources: readonly TileSource[], smaller: Head, larger: Head): Promise<GrowthVerdict> {
  let last: GrowthVerdict = { kind: 'unproven', reason: 'no tiles' }
  for (const source of sources) {
    last = await proveGrowth(source, smaller, larger).catch((error: unknown) => {
      if (error instanceof TileError)
        return { kind: 'unproven' as const, reason: error.message, missing: error.kind === 'missing' }
      throw error
    })
    if (last.kind !== 'unproven') return last
  }
  return last
}
