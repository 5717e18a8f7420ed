import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { plannedFaults } from '../planted/faults.ts'
import { plantFault } from '../planted/plant.ts'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const run = promisify(execFile)

/** What the tarballs are made of; tests are not. */
const sources = ['packages', 'contracts/artifacts', 'scripts/packages', 'tsconfig.json', 'package.json']
const others = ['package-lock.json', 'LICENSE', 'NOTICE']
const isNoSource = /(?:^|\/)node_modules\/|\.(?:test|fixture)\.ts$/

function stateOfSources(): string {
  const hash = createHash('sha256').update(process.version)
  const files = [...sources, ...others].flatMap((source) => {
    const place = join(root, source)
    if (statSync(place).isFile()) return [source]
    return readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  })
  for (const file of files.filter((name) => !isNoSource.test(name)).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/** The tarballs of all packages by the names of the folders in packages/, packed once for each state of the sources. */
export async function packAll(): Promise<Map<string, string>> {
  const cache = join(root, 'node_modules', '.cache', 'assay-tarballs')
  const kept = join(cache, stateOfSources())
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true })
    const draft = mkdtempSync(`${kept}-`)
    await run(process.execPath, [join(root, 'scripts/packages/pack.mjs'), '--out', draft])
    // Another process may have packed the same state meanwhile.
    if (!existsSync(kept)) renameSync(draft, kept)
    for (const old of readdirSync(cache))
      if (!old.startsWith(basename(kept))) rmSync(join(cache, old), { recursive: true, force: true })
  }
  return new Map(readdirSync(kept).map((file) => [/assay-([a-z]+)-/.exec(file)?.[1] ?? file, join(kept, file)]))
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
    plantIn(place, name)
    const manifest = readManifest(place)
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      if (!dependency.startsWith('@assay/')) link(join(place, 'node_modules'), dependency, name)
  }
}

/** `npm run faults` plants in what tests load; a fault of an unpacked package is put into its built file. */
function plantIn(place: string, name: string): void {
  const fault = plannedFaults.find((one) => one.name === process.env['PLANT'])
  if (!fault?.file.startsWith(`packages/${name}/src/`)) return
  const file = join(place, 'dist', fault.file.slice(`packages/${name}/src/`.length).replace(/\.ts$/, '.js'))
  writeFileSync(file, plantFault(readFileSync(file, 'utf8'), fault))
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
