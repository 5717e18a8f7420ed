import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Rng } from '../../kernel/random.ts'
import { StoreError } from '../errors.ts'
import { type Binaries, prepareBinaries } from './binaries.ts'
import { canEnter, chooseRunUser } from './run-user.ts'
import { ensureOwnFolder, type RunUser } from './tools.ts'

/** Where one node's database lives: `<folder>/data` is the cluster, beside it the credentials and the server's log. */
export type Place = {
  home: string
  folder: string
  /** Set when the cluster cannot live in the home folder: this file there says where it is. */
  pointer: string | undefined
  user: RunUser | undefined
  binaries: Binaries
}

export const dataFolderOf = (place: Pick<Place, 'folder'>): string => join(place.folder, 'data')

export async function choosePlace(homeOption: string, rng: Rng): Promise<Place> {
  const home = resolve(homeOption)
  const user = await chooseRunUser()
  // Secrets in the home folder are 0600 each; the folder itself must let root's stand-in pass through.
  await mkdir(home, { recursive: true, mode: user ? 0o711 : 0o700 })
  const roots = user ? ['/var/lib/assay', join(tmpdir(), 'assay')] : [join(home, 'programs')]
  const binaries = await prepareBinaries(user, roots)
  const inside = { home, folder: join(home, 'postgres'), pointer: undefined, user, binaries }
  const pointer = join(home, 'postgres.location.json')
  const pointed = await readPointer(pointer)
  if (pointed) return asOwner({ home, folder: pointed, pointer, user, binaries })
  if (!user || (await isThere(inside.folder)) || (await canEnter(user, home))) return asOwner(inside)
  // The name carries randomness: a home folder that was deleted must not find its old data again.
  const name = `${createHash('sha256').update(home).digest('hex').slice(0, 8)}-${Buffer.from(rng.bytes(4)).toString('hex')}`
  return { home, folder: join(await firstUsable(roots, user), name), pointer, user, binaries }
}

/** A cluster that exists keeps its owner: root may meet one that a normal user made. */
async function asOwner(place: Place): Promise<Place> {
  const data = await lstat(dataFolderOf(place)).catch(() => undefined)
  if (!data || !place.user || data.uid === 0 || data.uid === place.user.uid) return place
  return { ...place, user: { name: `uid ${data.uid}`, uid: data.uid, gid: data.gid } }
}

export async function readPointer(pointer: string): Promise<string | undefined> {
  const text = await readFile(pointer, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const { folder } = JSON.parse(text) as { folder?: unknown }
  return typeof folder === 'string' ? folder : undefined
}

async function firstUsable(roots: readonly string[], user: RunUser): Promise<string> {
  for (const root of roots) {
    try {
      await ensureOwnFolder(root, 0o711)
      // An earlier, stricter umask may have closed it.
      await chmod(root, 0o711)
      if (await canEnter(user, root)) return root
    } catch {
      // The next one may do.
    }
  }
  throw new StoreError(
    `PostgreSQL runs as "${user.name}", which can reach neither the data folder nor ${roots.join(' nor ')}`,
  )
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}
