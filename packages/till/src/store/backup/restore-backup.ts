import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { access, appendFile, chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Rng } from '../../kernel/random.ts'
import { choosePlace, dataFolderOf } from '../embedded/place.ts'
import { asUser, toolEnvironment } from '../embedded/tools.ts'
import { StoreError } from '../errors.ts'
import { archiveFile } from './take-backup.ts'

/**
 * Puts a backup into a new data folder, for the embedded server to start on. The credentials are those of the server that
 * was copied: its passwords came with it.
 */
export async function restoreBackup(options: {
  backup: string
  home: string
  credentialsFile: string
  rng: Rng
}): Promise<void> {
  const place = await choosePlace(options.home, options.rng)
  const data = dataFolderOf(place)
  const taken = await access(data).then(
    () => true,
    () => false,
  )
  if (taken) throw new StoreError(`${data} exists already: a backup is restored into its own folder`)
  await mkdir(place.folder, { recursive: true, mode: place.user ? 0o711 : 0o700 })
  for (const folder of [data, join(place.folder, 'run')]) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (place.user) await chown(folder, place.user.uid, place.user.gid)
  }
  const child = spawn('tar', ['-x', '-f', '-', '-C', data], {
    cwd: '/',
    env: toolEnvironment(),
    stdio: ['pipe', 'ignore', 'pipe'],
    ...asUser(place.user),
  })
  let said = ''
  child.stderr.on('data', (piece: Buffer) => {
    said = `${said}${piece.toString()}`.slice(-2_000)
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  await pipeline(createReadStream(join(options.backup, archiveFile)), child.stdin).catch(() => {})
  if ((await ended) !== 0) throw new StoreError(`the backup could not be unpacked: ${said}`)
  await chmod(data, 0o700)
  await beginTimeline(data, place.user)
  const credentials = join(place.folder, 'credentials.json')
  await copyFile(options.credentialsFile, credentials)
  await chmod(credentials, 0o600)
}

/**
 * Recovery to the end of the copied log, and then its own timeline: by that the node learns that it was restored.
 * Without a hot standby the server takes connections only when it is over.
 */
async function beginTimeline(data: string, user: { uid: number; gid: number } | undefined): Promise<void> {
  const signal = join(data, 'recovery.signal')
  await writeFile(signal, '', { mode: 0o600 })
  if (user) await chown(signal, user.uid, user.gid)
  await appendFile(join(data, 'postgresql.auto.conf'), "restore_command = 'false'\nhot_standby = 'off'\n")
}
