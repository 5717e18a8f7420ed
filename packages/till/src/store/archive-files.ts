import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { sha256 } from '../kernel/bytes.ts'

export type ArchiveFile = {
  name: string
  sha256: string
  rows: number
  /** Keys of its first and last row. */
  first: string
  last: string
}

/** What an archived partition consists of: lines of JSON, compressed, in the order of their key. */
export type Manifest = {
  format: 'assay-archive-1'
  table: string
  partition: string
  /** Its first day, and the first day after it (UTC). */
  from: string
  until: string
  rows: number
  files: ArchiveFile[]
}

export class ArchiveBroken extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'ArchiveBroken'
  }
}

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]
const manifestName = 'manifest.json'
/** A file holds some thousand rows; more than this is none of ours. */
const fileBytesMax = 512 * 1024 * 1024

/** Writes a partition: whatever an earlier attempt left is replaced. Returns the manifest with its hash. */
export async function writeArchive(
  folder: string,
  head: Omit<Manifest, 'format' | 'rows' | 'files'>,
  pages: AsyncIterable<readonly { key: string; line: string }[]>,
): Promise<{ manifest: Manifest; hash: Buffer }> {
  const target = join(folder, head.partition)
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  const manifest: Manifest = { format: 'assay-archive-1', ...head, rows: 0, files: [] }
  for await (const page of pages) {
    const name = `${String(manifest.files.length + 1).padStart(6, '0')}.jsonl.gz`
    const bytes = await compress(page.map(({ line }) => `${line}\n`).join(''))
    await writeFile(join(target, name), bytes, { flush: true })
    const [first = { key: '' }, last = { key: '' }] = [page[0], page.at(-1)]
    manifest.rows += page.length
    manifest.files.push({
      ...{ name, sha256: sha256(bytes).toString('hex'), rows: page.length, first: first.key, last: last.key },
    })
  }
  const text = `${JSON.stringify(manifest, null, 1)}\n`
  await writeFile(join(target, `${manifestName}.part`), text, { flush: true })
  await rename(join(target, `${manifestName}.part`), join(target, manifestName))
  return { manifest, hash: sha256(text) }
}

/** The manifest, if it is the one whose hash the database has. */
export async function readManifest(folder: string, partition: string, hash: Buffer): Promise<Manifest> {
  const text = await readOrBreak(join(folder, partition, manifestName))
  if (!sha256(text).equals(hash)) throw new ArchiveBroken(`${partition}/${manifestName} was changed`)
  return JSON.parse(text.toString('utf8')) as Manifest
}

/** The lines of one file, if it is the one that the manifest names. */
export async function readArchiveFile(folder: string, { partition }: Manifest, file: ArchiveFile): Promise<string[]> {
  const bytes = await readOrBreak(join(folder, partition, file.name))
  if (sha256(bytes).toString('hex') !== file.sha256) throw new ArchiveBroken(`${partition}/${file.name} was changed`)
  const text = (await decompress(bytes, { maxOutputLength: fileBytesMax })).toString('utf8')
  return text.split('\n').slice(0, -1)
}

async function readOrBreak(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new ArchiveBroken(cause.code === 'ENOENT' ? `${path} is missing` : `${path} cannot be read: ${cause.message}`)
  })
}
