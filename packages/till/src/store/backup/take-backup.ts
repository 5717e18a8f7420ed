import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type ConnectionTarget, clientConfig } from '../connection.ts'
import { StoreError } from '../errors.ts'

export type Backup = { bytes: number; serverVersion: number; startedAt: string }

export const archiveFile = 'base.tar'
export const manifestFile = 'backup_manifest'
const summaryFile = 'backup.json'
const oldestServer = 150_000
/** What may wait to be written before the server is asked to pause. */
const unwrittenMax = 16 * 1_048_576

/**
 * A whole copy of a running server with the log that makes it consistent, taken over the replication protocol: what
 * pg_basebackup does, for which the binary of the very same major version would be needed and often is not there. A dump
 * would not do: it renumbers transactions, and the seals of the books name them. The login needs the REPLICATION right.
 */
export async function takeBackup(target: ConnectionTarget, folder: string, nowIso: string): Promise<Backup> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const serverVersion = await versionOf(target)
  if (serverVersion < oldestServer)
    throw new StoreError('backups over the driver need PostgreSQL 15 or newer; use pg_basebackup of the server itself')
  const client = new pg.Client({ ...clientConfig(target), replication: 'true' } as pg.ClientConfig)
  client.on('error', () => {})
  const draft = join(folder, `${archiveFile}.part`)
  try {
    await client.connect()
    const files = openFiles(draft, join(folder, manifestFile))
    await streamBackup(client, files.take).finally(() => files.close())
    // Under its name only when it is whole.
    await rename(draft, join(folder, archiveFile))
    const note = { bytes: files.bytes(), serverVersion, startedAt: nowIso }
    await writeFile(join(folder, summaryFile), `${JSON.stringify(note)}\n`, { mode: 0o600 })
    return note
  } catch (cause) {
    await rm(draft, { force: true })
    throw new StoreError(`the backup failed: ${(cause as Error).message}`, { cause })
  } finally {
    await client.end().catch(() => {})
  }
}

async function versionOf(target: ConnectionTarget): Promise<number> {
  const client = new pg.Client(clientConfig(target))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    return Number(rows[0]?.server_version_num)
  } finally {
    await client.end().catch(() => {})
  }
}

const command = `BASE_BACKUP (LABEL 'assay', CHECKPOINT 'fast', WAL true, MANIFEST 'yes')`

type Wire = { query(text: string): void; stream: { pause(): void; resume(): void } }

/** The protocol gives the copy as data of a COPY; the driver hands it on message by message. */
function streamBackup(client: pg.Client, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let failed: Error | undefined
    const nothing = () => {}
    client.query({
      submit: (connection: unknown) => (connection as Wire).query(command),
      handleRowDescription: nothing,
      handleDataRow: nothing,
      handlePortalSuspended: nothing,
      handleEmptyQuery: nothing,
      handleCommandComplete: nothing,
      handleCopyData: ({ chunk }: { chunk: Buffer }, connection: Wire) => {
        const full = take(chunk)
        if (!full) return
        connection.stream.pause()
        full.then(
          () => connection.stream.resume(),
          (error: Error) => {
            failed = error
            connection.stream.resume()
          },
        )
      },
      handleError: reject,
      handleReadyForQuery: () => (failed ? reject(failed) : resolve()),
    } as unknown as pg.Submittable)
  })
}

const kinds = { archive: 0x6e, manifest: 0x6d, data: 0x64 } as const

/** First byte of a message: a new archive, the manifest, data of the one that is open, or progress. */
function openFiles(archive: string, manifest: string) {
  const files: WriteStream[] = []
  let bytes = 0
  let failure: Error | undefined
  const open = (path: string) => {
    const file = createWriteStream(path, { mode: 0o600 })
    file.on('error', (error) => {
      failure = error
    })
    files.push(file)
  }
  return {
    bytes: () => bytes,
    take: (chunk: Buffer): Promise<void> | undefined => {
      if (failure) throw failure
      if (chunk[0] === kinds.archive) {
        if (files.length > 0) throw new StoreError('tablespaces outside the data folder need pg_basebackup')
        open(archive)
      }
      if (chunk[0] === kinds.manifest) open(manifest)
      if (chunk[0] !== kinds.data) return undefined
      const file = files.at(-1)
      bytes += chunk.length - 1
      // The driver reuses its buffer.
      if (file?.write(Buffer.from(chunk.subarray(1))) || (file?.writableLength ?? 0) < unwrittenMax) return undefined
      return new Promise((resolve) => file?.once('drain', () => resolve()))
    },
    close: () =>
      Promise.all(
        files.map(
          (file) => new Promise<void>((resolve, reject) => file.end((e?: Error | null) => (e ? reject(e) : resolve()))),
        ),
      ),
  }
}
