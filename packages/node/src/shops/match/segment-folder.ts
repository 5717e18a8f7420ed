import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Segment } from './segment.ts'
import { decodeSegment, encodeSegment } from './segment-file.ts'

export type SegmentFolder = {
  /** Segments in order, as far as they join without overlap. */
  load(): Segment[]
  /** Writes what is worth keeping and removes what a larger one has taken in. */
  keep(segments: readonly Segment[]): void
}

/** Smaller ones are built again faster than they are worth a file. */
const keptFromDocs = 1_000
const namePattern = /^(\d{1,16})-(\d{1,16})\.segment$/

const first = ({ pageIds }: Segment) => pageIds[0] as number
const last = ({ pageIds }: Segment) => pageIds[pageIds.length - 1] as number
const nameOf = (segment: Segment) => `${first(segment)}-${last(segment)}.segment`

/** Files named by the pages they cover. All of it can be lost: the rows in the database are what counts. */
export function openSegmentFolder(path: string): SegmentFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const written = new Set<string>()
  const listed = () => readdirSync(path).filter((name) => namePattern.test(name))
  return {
    load: () => {
      const segments: Segment[] = []
      const names = listed().sort((a, b) => startOf(a) - startOf(b) || endOf(b) - endOf(a))
      for (const name of names) {
        const newest = segments.at(-1)
        // Left behind by a crash between writing a merged one and removing its parts.
        if (newest && startOf(name) <= last(newest)) continue
        const segment = readSegment(join(path, name))
        if (!segment || nameOf(segment) !== name) break
        written.add(name)
        segments.push(segment)
      }
      return segments
    },
    keep: (segments) => {
      const wanted = segments.filter(({ docCount }) => docCount >= keptFromDocs)
      for (const segment of wanted) {
        const name = nameOf(segment)
        if (written.has(name)) continue
        const draft = join(path, `${name}.draft`)
        writeFileSync(draft, encodeSegment(segment), { mode: 0o600, flush: true })
        renameSync(draft, join(path, name))
        written.add(name)
      }
      const names = new Set(wanted.map(nameOf))
      for (const name of listed())
        if (!names.has(name)) {
          rmSync(join(path, name), { force: true })
          written.delete(name)
        }
    },
  }
}

const startOf = (name: string) => Number(namePattern.exec(name)?.[1])
const endOf = (name: string) => Number(namePattern.exec(name)?.[2])

function readSegment(path: string): Segment | undefined {
  try {
    const bytes = readFileSync(path)
    // A pooled buffer may lie anywhere; the arrays need a multiple of eight.
    return decodeSegment(bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes))
  } catch {
    return undefined
  }
}
