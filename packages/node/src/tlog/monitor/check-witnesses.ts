import { cosignedAt } from '@assay/protocol/log/checkpoint'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import type { Head } from './read-head.ts'
import type { Finding, LogState, MonitorOptions } from './types.ts'

/** A witness whose clock is ahead by more than this said nothing about now. */
const skewMs = 300_000

/** The largest head each witness was seen to have signed. */
export async function recordCosignatures(
  known: LogState['witnesses'],
  head: Head,
  witnesses: MonitorOptions['witnesses'],
  nowMs: number,
): Promise<LogState['witnesses']> {
  const next = { ...known }
  for (const { key: vkey } of witnesses) {
    const key = parseNoteKey(vkey)
    if (!key) continue
    for (const one of head.signatures) {
      const seconds = await cosignedAt(head.text, one, key)
      if (seconds === undefined || seconds * 1000 > nowMs + skewMs) continue
      const { size } = head
      const cosigned_at = new Date(seconds * 1000).toISOString()
      const before = next[vkey]
      if (!before || size > before.size || (size === before.size && cosigned_at > before.cosigned_at))
        next[vkey] = { size, cosigned_at }
    }
  }
  return next
}

export function checkQuorum(
  known: LogState['witnesses'],
  { witnesses, quorum, witnessAgeMs }: Pick<MonitorOptions, 'witnesses' | 'quorum' | 'witnessAgeMs'>,
  nowMs: number,
): Finding[] {
  // The same key under two names is one witness.
  const fresh = new Set(
    witnesses
      .filter(({ key }) => nowMs - Date.parse(known[key]?.cosigned_at ?? '1970-01-01') <= witnessAgeMs)
      .map(({ key }) => parseNoteKey(key)?.x),
  )
  if (fresh.size >= quorum) return []
  const detail = `${fresh.size} of ${witnesses.length} witnesses cosigned within ${Math.round(witnessAgeMs / 1000)} s, ${quorum} are needed`
  return [{ kind: 'witness_quorum', severity: 'warning', detail }]
}
