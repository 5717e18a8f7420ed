import { createHash } from 'node:crypto'
import type { FileCache } from '../as-of/file-cache.ts'
import { usedFiles } from '../as-of/used-files.ts'
import type { Feed } from '../feeds/feed.ts'
import { feedSources } from '../feeds/feed-sources.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import type { FileRecord } from '../store/files.ts'
import type { NoSnapshot } from './snapshot.ts'

/** Raised when the bytes of a snapshot change for the same files and method: snapshots kept before it are not used again. */
const layoutVersion = 3

export type SnapshotInputs = {
  /** Hash of everything the bytes depend on. Two tiers with the same rights share it, and so the snapshot. */
  key: string
  /** The same without the files. */
  rules: string
  /** The last moment at which any of the files became public. */
  knownAtMs: number
}

/** What a snapshot of this moment would be made of; or why there can be none. No view is loaded for it. */
export function snapshotInputs(
  fileCache: FileCache,
  licences: LicencePolicy,
  feed: Feed,
  variant: Variant,
  atMs: number,
): SnapshotInputs | NoSnapshot {
  const sources = [...feedSources(feed)].sort()
  const files = sources.flatMap((source) => usedFiles(fileCache, source, atMs))
  const may = (file: FileRecord) => licences.may(file.source, file.synthetic, variant)
  const needed = files.filter(({ source }) => feed.needs.includes(source))
  if (needed.length === 0 || !needed.some(may)) {
    const named = new Set([...feed.needs, ...feed.uses])
    const refused = new Set(files.filter((file) => named.has(file.source) && !may(file)).map(({ source }) => source))
    const leftOut = [...refused].sort().map((source) => ({ source, reason: licences.reason(source) }))
    return { status: needed.length === 0 ? 'no_data' : 'not_licensed', leftOut }
  }
  // Only what the files at hand are touched by: where all of it may be sold, both tiers have the same rules.
  const kinds = new Map(files.map((file) => [`${file.source} ${file.synthetic}`, file]))
  const rights = [...kinds.values()].map((file) => [
    file.source,
    may(file),
    licences.licenceOf(file),
    licences.reason(file.source),
  ])
  const rules = hash([layoutVersion, feed, rights])
  const key = hash([
    rules,
    files.map((file) => [
      file.source,
      file.part,
      file.period,
      file.asOf,
      file.revision,
      file.sha256,
      file.name,
      file.availableAtMs,
      file.synthetic,
    ]),
  ])
  return { key, rules, knownAtMs: Math.max(...files.map(({ availableAtMs }) => availableAtMs)) }
}

const hash = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')
