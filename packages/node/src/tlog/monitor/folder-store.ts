import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord, parseJson } from '@assay/protocol/json-object'
import { writeDurably } from '@assay/till/kernel/durable-file'
import { hashBytes, type TileId, tileWidth } from '../tiles.ts'
import { tilePath } from './tile-source.ts'
import { emptyState, type LogState, type LogStore } from './types.ts'

/** A folder name that people recognise, and that no two urls share. */
export function folderName(url: string): string {
  const readable = url
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .slice(0, 80)
  return `${readable}-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

export type FolderStore = LogStore & {
  readCheckpoint(): Promise<Buffer | undefined>
  readEntries(tile: number): Promise<Buffer | undefined>
  readFork(name: string): Promise<Buffer | undefined>
}

/** State and evidence in one folder, tiles and entries at their C2SP paths in another or the same one. */
export function openFolderStore(folder: string, tiles: string = folder): FolderStore {
  const widest = async (level: number | 'entries', tile: number): Promise<Buffer | undefined> => {
    const full = join(tiles, tilePath(level, tile, tileWidth))
    const known = await readIfThere(full)
    if (known) return known
    const widths = (await readdir(`${full}.p`).catch(() => []))
      .filter((name) => /^[1-9][0-9]{0,2}$/.test(name))
      .map(Number)
    return widths.length === 0 ? undefined : readIfThere(join(`${full}.p`, String(Math.max(...widths))))
  }
  const writeTile = async (level: number | 'entries', tile: number, width: number, bytes: Uint8Array) => {
    const full = join(tiles, tilePath(level, tile, tileWidth))
    await writeDurably(join(tiles, tilePath(level, tile, width)), bytes)
    // Narrower copies are of no more use: a wider one begins with them.
    if (width === tileWidth) return rm(`${full}.p`, { recursive: true, force: true })
    for (const name of await readdir(`${full}.p`).catch(() => []))
      if (/^[0-9]+$/.test(name) && Number(name) < width) await rm(join(`${full}.p`, name), { force: true })
  }
  return {
    readState: async () => readStateText((await readIfThere(join(folder, 'state.json')))?.toString('utf8')),
    writeState: (state) => writeDurably(join(folder, 'state.json'), JSON.stringify(state)),
    writeCheckpoint: (note) => writeDurably(join(tiles, 'checkpoint'), note),
    readCheckpoint: () => readIfThere(join(tiles, 'checkpoint')),
    writeFork: async (evidence, name) => {
      await writeDurably(join(folder, 'forks', name), `${JSON.stringify(evidence, null, 2)}\n`)
      return name
    },
    readFork: async (name) =>
      /^fork-[0-9a-z-]+\.json$/.test(name) ? readIfThere(join(folder, 'forks', name)) : undefined,
    readTile: ({ level, tile }: TileId) => widest(level, tile),
    readEntries: (tile) => widest('entries', tile),
    writeTiles: async (changed) => {
      for (const { level, tile, hashes } of changed) await writeTile(level, tile, hashes.length / hashBytes, hashes)
    },
    writeEntries: (tile, width, bundle) => writeTile('entries', tile, width, bundle),
  }
}

/** A state that cannot be read is an error and not a first contact: losing what was seen would hide a fork. */
function readStateText(text: string | undefined): LogState | undefined {
  if (text === undefined) return undefined
  const value = parseJson(text)
  if (!isRecord(value) || value.version !== 1 || typeof value.url !== 'string')
    throw new Error('the state of the monitor cannot be read')
  return { ...emptyState(value.url), ...(value as Partial<LogState>) }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined
    throw error
  })
}
