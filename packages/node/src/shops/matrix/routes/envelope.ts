import { toRfc3339 } from '@assay/till/kernel/clock'
import type { FileCache } from '../as-of/file-cache.ts'
import { feeds } from '../feeds/catalogue.ts'
import type { Tier } from '../snapshots/render.ts'
import type { Snapshot, SnapshotInput } from '../snapshots/snapshot.ts'
import { freshnessOf } from '../snapshots/staleness.ts'

export const disclaimer =
  'Data about short selling, with the dates at which they were known. Not advice, not an offer, no forecast; a score is no probability.'

/** What is true of the whole answer, and its JSON without the closing brace: members of the page at hand follow it. */
export type Envelope = { facts: Readonly<Record<string, unknown>>; text: string }

type EnvelopeInput = { tier: Tier; nowMs: number; fileCache: FileCache; knownAtMs?: number; delayMinutes?: number }

const remembered = new WeakMap<Snapshot, Map<string, Envelope>>()

/** The snapshot's own facts, and its age seen from now. It is reported by the minute, so all answers of a minute share it. */
export function envelopeOf(snapshot: Snapshot, input: EnvelopeInput): Envelope {
  // Moments are many, and each is asked for once or twice.
  if (input.knownAtMs !== undefined) return made(factsOf(snapshot, input))
  const known = remembered.get(snapshot) ?? new Map<string, Envelope>()
  remembered.set(snapshot, known)
  const name = `${input.tier} ${input.delayMinutes ?? ''}`
  const key = `${name} ${Math.floor(input.nowMs / 60_000)} ${input.fileCache.all().length}`
  const found = known.get(key)
  if (found) return found
  const envelope = made(factsOf(snapshot, input))
  for (const old of known.keys()) if (old.startsWith(`${name} `)) known.delete(old)
  known.set(key, envelope)
  return envelope
}

const made = (facts: Record<string, unknown>): Envelope => ({ facts, text: JSON.stringify(facts).slice(0, -1) })

function factsOf(snapshot: Snapshot, input: EnvelopeInput): Record<string, unknown> {
  const { manifest } = snapshot
  const { late: lateSources, nextMs } = freshnessOf(input.fileCache, feeds[manifest.feed], input.nowMs)
  const pointInTime = input.knownAtMs !== undefined
  const late = lateSources.filter(({ source }) => manifest.inputs.some((used) => used.source === source))
  return {
    feed: manifest.feed,
    tier: input.tier,
    as_of: manifest.as_of,
    available_at: manifest.available_at,
    ...(input.knownAtMs === undefined ? {} : { known_at: toRfc3339(input.knownAtMs) }),
    data_vintage: manifest.data_vintage,
    sha256: snapshot.sha256,
    method: manifest.method,
    coverage_pct: manifest.coverage_pct,
    row_count: manifest.row_count,
    ranked_by: manifest.ranked_by,
    synthetic: manifest.synthetic,
    stale: !pointInTime && late.length > 0,
    stale_sources: pointInTime ? [] : late.map(({ source, why }) => ({ source, why })),
    next_expected_at: pointInTime || nextMs === undefined ? null : toRfc3339(nextMs),
    ...(input.delayMinutes === undefined ? {} : { delay_minutes: input.delayMinutes }),
    sources: summary(manifest.inputs),
    left_out: manifest.left_out,
    excluded: manifest.excluded,
    notes: manifest.notes,
    disclaimer,
    ...(input.tier === 'vip' ? { inputs: manifest.inputs } : {}),
  }
}

/** One line a source: its newest file and how many are behind the values. */
function summary(inputs: readonly SnapshotInput[]) {
  const bySource = new Map<string, SnapshotInput[]>()
  for (const input of inputs) bySource.set(input.source, [...(bySource.get(input.source) ?? []), input])
  return [...bySource].map(([source, files]) => {
    const newest = files.reduce((latest, file) => (file.available_at > latest.available_at ? file : latest))
    return {
      source,
      as_of: newest.as_of,
      available_at: newest.available_at,
      licence: newest.licence,
      attribution: newest.attribution,
      synthetic: newest.synthetic,
      files: files.length,
    }
  })
}
