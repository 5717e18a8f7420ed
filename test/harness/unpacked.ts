import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const run = promisify(execFile)

/** Writes the tarballs of all packages and gives their paths by the names of the folders in packages/. */
export async function packAll(folder: string): Promise<Map<string, string>> {
  const { stdout } = await run(process.execPath, [join(root, 'scripts/packages/pack.mjs'), '--out', folder])
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('  ')[0] as string)
  return new Map(files.map((file) => [/assay-([a-z]+)-[^/]+$/.exec(file)?.[1] ?? file, file]))
}

/**
 * An empty project with these tarballs installed. Each package sees the locked packages that it declares and no others, so
 * that nothing comes from the network and nothing undeclared is found by chance.
 */
export async function installTarballs(folder: string, tarballs: ReadonlyMap<string, string>, names: readonly string[]) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  for (const name of names) {
    const place = join(folder, 'node_modules', '@assay', name)
    mkdirSync(place, { recursive: true })
    await run('tar', ['-xzf', tarballs.get(name) as string, '-C', place, '--strip-components=1'])
    const manifest = readManifest(place)
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      if (!dependency.startsWith('@assay/')) link(join(place, 'node_modules'), dependency, name)
  }
}

export type Manifest = {
  name: string
  version: string
  exports?: Record<string, string | { types: string; default: string }>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The locked package: below ours where the lockfile has its own version of it, else at the top. */
export function link(into: string, dependency: string, name = ''): void {
  const found = [join(root, 'packages', name, 'node_modules', dependency), join(root, 'node_modules', dependency)]
  const target = found.find((path) => existsSync(path))
  if (target === undefined) return
  mkdirSync(dirname(join(into, dependency)), { recursive: true })
  symlinkSync(target, join(into, dependency))
}
