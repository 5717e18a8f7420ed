import {
  ArchiveBroken,
  type ArchiveFile,
  type Manifest,
  readArchiveFile,
  readManifest,
} from '../store/archive-files.ts'
import type { Sql } from '../store/database.ts'

/** Line, account, unit and amount, as they are sealed. */
export type ArchivedLine = [line: number, account: string, unit: string, amount: string]

export type ArchivedEntries = {
  /** The lines of a posting that is in a file. */
  linesOf(transactionId: bigint): Promise<readonly ArchivedLine[] | undefined>
  /** Reads whatever was not read yet, so that a missing or changed file is found that nothing asked for. */
  readRest(): Promise<void>
}

type OpenFile = { manifest: Manifest; file: ArchiveFile; read: boolean }

/** Seals are nearly in the order of the files, so few are needed at a time. */
const filesKept = 8

/**
 * Postings and payments that `assay archive` wrote into files, checked against the hashes in the database. Throws `ArchiveBroken` for what
 * is missing or was changed; without a folder, as soon as there is something that would be in it.
 */
export async function openArchivedEntries(sql: Sql, folder: string | undefined): Promise<ArchivedEntries> {
  const files = await archivedFiles(sql, folder)
  const postings = files
    .filter(({ manifest }) => manifest.table === 'ledger_entry')
    .sort((a, b) => (BigInt(a.file.first) < BigInt(b.file.first) ? -1 : 1))
  const kept = new Map<OpenFile, Map<bigint, ArchivedLine[]>>()
  const load = async (open: OpenFile) => {
    const found = kept.get(open)
    if (found) return found
    const rows = (await readArchiveFile(folder as string, open.manifest, open.file)).map(
      (line) => JSON.parse(line) as { id: string; lines: ArchivedLine[] },
    )
    open.read = true
    const loaded = new Map(rows.map(({ id, lines }) => [BigInt(id), lines]))
    kept.set(open, loaded)
    const [oldest] = kept.keys()
    if (kept.size > filesKept && oldest) kept.delete(oldest)
    return loaded
  }
  return {
    linesOf: async (id) => {
      const open = postings[lastAtOrBefore(postings, id)]
      return open && id <= BigInt(open.file.last) ? (await load(open)).get(id) : undefined
    },
    readRest: async () => {
      for (const { manifest, file, read } of files)
        if (!read && (await readArchiveFile(folder as string, manifest, file)).length !== file.rows)
          throw new ArchiveBroken(`${manifest.partition}/${file.name} has other rows than its manifest says`)
    },
  }
}

function lastAtOrBefore(files: readonly OpenFile[], id: bigint): number {
  let [low, high] = [0, files.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (BigInt(files[middle]?.file.first ?? 0) <= id) low = middle + 1
    else high = middle
  }
  return low - 1
}

async function archivedFiles(sql: Sql, folder: string | undefined): Promise<OpenFile[]> {
  const { rows } = await sql.query<{ name: string; hash: Buffer | null }>(
    'select name, manifest_sha256 as hash from archived_partition order by name',
  )
  const files: OpenFile[] = []
  for (const { name, hash } of rows) {
    if (hash === null)
      throw new ArchiveBroken(`${name} is being archived; if nothing does it now, run \`assay archive\` again`)
    if (folder === undefined) throw new ArchiveBroken(`${name} is archived; name the folder with --archive`)
    const manifest = await readManifest(folder, name, hash)
    files.push(...manifest.files.map((file) => ({ manifest, file, read: false })))
  }
  return files
}
