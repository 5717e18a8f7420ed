import { toBase64 } from '@assay/protocol/base64'
import { fromUtf8, utf8 } from '@assay/protocol/bytes'
import { parseJsonObject } from '@assay/protocol/json-object'
import { isSignedByLog, parseCheckpoint, witnessedAt } from '@assay/protocol/log/checkpoint'
import { leafHash } from '@assay/protocol/log/merkle'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { tileIndexPath } from '@assay/protocol/log/tile-path'

const tileWidth = 256

export type LogHead = {
  size: number
  root: string
  /** Checked here, with the keys that the log publishes. */
  signed: boolean
  witnesses: { name: string; at: string | null }[]
}

/** The newest tree head, its signatures checked in this browser. */
export async function readHead(text: string, keys: readonly string[], witnesses: readonly string[]): Promise<LogHead> {
  const head = parseCheckpoint(text)
  if (head === undefined) throw new Error('The tree head cannot be read.')
  const cosigned = witnesses.flatMap((vkey) => parseNoteKey(vkey) ?? [])
  return {
    size: head.size,
    root: toBase64(head.root),
    signed: await isSignedByLog(head, keys),
    witnesses: await Promise.all(
      cosigned.map(async (key) => {
        const seconds = await witnessedAt(head, key)
        return { name: key.name, at: seconds === undefined ? null : new Date(seconds * 1000).toISOString() }
      }),
    ),
  }
}

export type LogEntry = { index: number; hash: string; record: Record<string, unknown> | undefined; text: string }

/** Paths of the tiles that end the log, the last first, and the index of the first entry of each. */
export function lastTiles(size: number, max: number): { path: string; first: number }[] {
  const tiles = Math.ceil(size / tileWidth)
  return Array.from({ length: Math.min(max, tiles) }, (_, back) => {
    const tile = tiles - 1 - back
    const width = Math.min(tileWidth, size - tile * tileWidth)
    const partial = width === tileWidth ? '' : `.p/${width}`
    return { path: `tile/entries/${tileIndexPath(tile)}${partial}`, first: tile * tileWidth }
  })
}

/** Id of a citation or claim, which has a page; demand and index entries have none. */
export function attestationId({ record }: Pick<LogEntry, 'record'>): string | undefined {
  const id = record?.id
  return typeof id === 'string' && /^(?:att|clm)_/.test(id) ? id : undefined
}

/** Each entry follows its length in two bytes. Newest first. */
export function readEntries(bytes: Uint8Array, first: number): LogEntry[] {
  const entries: LogEntry[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const length = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    const text = fromUtf8(bytes.subarray(at + 2, at + 2 + length)) ?? ''
    entries.push({
      index: first + entries.length,
      hash: toBase64(leafHash(utf8(text))),
      record: parseJsonObject(text),
      text,
    })
    at += 2 + length
  }
  return entries.reverse()
}
