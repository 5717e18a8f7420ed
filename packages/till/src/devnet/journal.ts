import { closeSync, fdatasync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { sha256 } from '../kernel/bytes.ts'
import type { JournalEntry } from './history.ts'

/** The durable memory of a chain: one line per entry, each with its own checksum, only ever appended to. */
export type Journal = {
  /** In the file when this returns: it survives the end of the process, but not yet a loss of power. */
  append(entries: readonly JournalEntry[]): void
  /** Resolves when everything appended so far is on the disk. Calls that come together share one sync. */
  flushed(): Promise<void>
  close(): Promise<void>
}

export type ReadJournal = {
  entries: JournalEntry[] /** Bytes of a last line that was never finished. */
  tornBytes: number
}

const checksumLength = 16

export const memoryJournal: Journal = { append: () => {}, flushed: async () => {}, close: async () => {} }

export function formatLine(entry: JournalEntry): string {
  const text = JSON.stringify(entry)
  return `${checksum(text)} ${text}\n`
}

/**
 * A last line without its end was being written when the process died, and nobody was answered on the strength of it.
 * Anything else that does not read is damage, and a chain with a hole would be a different chain.
 */
export function parseJournal(bytes: Buffer, path: string): ReadJournal {
  const end = bytes.lastIndexOf(0x0a) + 1
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1)
  const entries = lines.map((line, index) => {
    const entry = parseLine(line)
    if (entry === undefined)
      throw new Error(`${path}: line ${index + 1} is damaged. Restore the file, or delete it to start a new chain.`)
    return entry
  })
  return { entries, tornBytes: bytes.byteLength - end }
}

export function openJournal(path: string): ReadJournal & { journal: Journal } {
  mkdirSync(dirname(path), { recursive: true })
  const fd = openSync(path, 'a+', 0o600)
  try {
    const bytes = readFileSync(fd)
    const read = parseJournal(bytes, path)
    const size = bytes.byteLength - read.tornBytes
    if (read.tornBytes > 0) ftruncateSync(fd, size)
    return { ...read, journal: fileJournal(fd, path, size) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function fileJournal(fd: number, path: string, startSize: number): Journal {
  let size = startSize
  let dirty = false
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const sync = () =>
    new Promise<void>((resolve, reject) => {
      dirty = false
      fdatasync(fd, (error) => (error ? reject(error) : resolve()))
    })
  const flushed = (): Promise<void> => {
    if (running !== undefined) {
      // The running sync may have begun before the last append, so only the one after it covers everything.
      next ??= running.then(flushed, flushed).finally(() => {
        next = undefined
      })
      return next
    }
    if (!dirty) return Promise.resolve()
    running = sync().finally(() => {
      running = undefined
    })
    return running
  }
  return {
    append: (entries) => {
      if (fstatSync(fd).size !== size)
        throw new Error(`${path}: another process writes to this journal; two nodes must not share a data folder`)
      const bytes = Buffer.from(entries.map(formatLine).join(''))
      writeAll(fd, bytes)
      size += bytes.byteLength
      dirty = true
    },
    flushed,
    close: async () => {
      await flushed()
      closeSync(fd)
    },
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  let written = 0
  while (written < bytes.byteLength) written += writeSync(fd, bytes, written)
}

function parseLine(line: string): JournalEntry | undefined {
  const text = line.slice(checksumLength + 1)
  if (line[checksumLength] !== ' ' || line.slice(0, checksumLength) !== checksum(text)) return undefined
  return JSON.parse(text) as JournalEntry
}

function checksum(text: string): string {
  return sha256(text).toString('hex').slice(0, checksumLength)
}
