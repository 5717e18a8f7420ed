import { chmod, chown, link, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeDurably } from '../../kernel/durable-file.ts'
import type { Rng } from '../../kernel/random.ts'
import { StoreError } from '../errors.ts'
import { dataFolderOf, type Place, readPointer } from './place.ts'
import { type RunUser, runTool } from './tools.ts'

export type Credentials = { user: string; password: string; database: string }

const credentialsFile = 'credentials.json'

/**
 * The cluster's credentials, after making the cluster if there is none. It is made in a temporary folder beside and put
 * in place by one atomic step, so two first starts end up with one cluster and a killed one leaves nothing half made.
 */
export async function ensureCluster(
  place: Place,
  ports: { rng: Rng; onProgress(text: string): void },
): Promise<{ place: Place; credentials: Credentials }> {
  const existing = await readCredentials(place)
  if (existing) return { place, credentials: existing }
  ports.onProgress('preparing the database (first start only)')
  const parent = dirname(place.folder)
  await mkdir(parent, { recursive: true })
  const staging = await mkdtemp(join(parent, `${basename(place.folder)}.new-`))
  try {
    await initialise(place, staging, ports.rng)
    const winner = await putInPlace(place, staging)
    const credentials = await readCredentials(winner)
    if (!credentials) throw new StoreError(`the database folder ${winner.folder} has no ${credentialsFile}`)
    return { place: winner, credentials }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function readCredentials(place: Place): Promise<Credentials | undefined> {
  try {
    return JSON.parse(await readFile(join(place.folder, credentialsFile), 'utf8')) as Credentials
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StoreError(
      `the database folder ${place.folder} cannot be read; it may belong to another user of this machine`,
      { cause },
    )
  }
}

async function initialise(place: Place, staging: string, rng: Rng): Promise<void> {
  const credentials = { user: 'assay', password: Buffer.from(rng.bytes(24)).toString('hex'), database: 'assay' }
  await chmod(staging, place.user ? 0o711 : 0o700)
  const data = dataFolderOf({ folder: staging })
  const sockets = join(staging, 'run')
  const passwordFile = join(staging, 'password')
  for (const folder of [data, sockets]) {
    await mkdir(folder, { mode: 0o700 })
    await changeOwner(place.user, folder)
  }
  await writeFile(passwordFile, `${credentials.password}\n`, { mode: 0o600 })
  await changeOwner(place.user, passwordFile)
  const { code, output } = await runTool(
    place.binaries.initdb,
    [
      `--pgdata=${data}`,
      `--username=${credentials.user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--data-checksums',
      '--encoding=UTF8',
      '--no-locale',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ],
    place.user,
  )
  if (code !== 0) throw new StoreError(`the database could not be created: ${output || `initdb ended with ${code}`}`)
  await rm(passwordFile)
  await writeDurably(join(staging, credentialsFile), JSON.stringify(credentials), 0o600)
}

/** Says which cluster won: ours, or the one that another start put there first. */
async function putInPlace(place: Place, staging: string): Promise<Place> {
  try {
    await rename(staging, place.folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
  if (place.pointer === undefined) return place
  const draft = `${place.pointer}.${basename(staging)}`
  await writeDurably(draft, JSON.stringify({ folder: place.folder }), 0o600)
  try {
    await link(draft, place.pointer)
    return place
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const theirs = await readPointer(place.pointer)
    if (theirs === undefined) throw error
    await rm(place.folder, { recursive: true, force: true })
    return { ...place, folder: theirs }
  } finally {
    await rm(draft, { force: true })
  }
}

async function changeOwner(user: RunUser | undefined, path: string): Promise<void> {
  if (user) await chown(path, user.uid, user.gid)
}
