import { chown, lstat, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from './place.ts'

/** sun_path holds 108 bytes on Linux and 104 on macOS, the closing zero included. */
const socketPathBytesMax = process.platform === 'linux' ? 107 : 103

const fits = (folder: string, port: number) =>
  Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= socketPathBytesMax && !/[",]/.test(folder)

/**
 * A private folder for the server's socket. A home folder with a long path gets one in the temporary folder, with a
 * random name so that no one can have put something there before us.
 */
export async function prepareSocketFolder(place: Place, port: number): Promise<string> {
  const inside = join(place.folder, 'run')
  const folder = fits(inside, port) ? inside : await shortFolder(port)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (place.user && (await lstat(folder)).uid !== place.user.uid) await chown(folder, place.user.uid, place.user.gid)
  return folder
}

export const shortFolderPrefix = 'assay-pg-'

async function shortFolder(port: number): Promise<string> {
  const base = fits(join(tmpdir(), `${shortFolderPrefix}XXXXXX`), port) ? tmpdir() : '/tmp'
  return mkdtemp(join(base, shortFolderPrefix))
}
