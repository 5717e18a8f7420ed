// The node's sources as a few plain files. Loading a thousand TypeScript modules one by one takes seconds of every start;
// joining them takes a fraction of one, once for each state of the sources.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './install-if-missing.mjs'

const source = join(root, 'packages', 'node', 'src')
/** Our own packages are joined too; those of others stay where they are. */
const ownPackages = {
  '@assay/till': join(root, 'packages', 'till', 'src'),
  '@assay/protocol': join(root, 'packages', 'protocol', 'src'),
}
const cache = join(root, 'node_modules', '.cache', 'assay')

/** Gives the module `main.ts`, joined where that can be done and as it stands otherwise. */
export async function loadNode() {
  try {
    return await import(pathToFileURL(join(await joinedFolder(), 'main.mjs')).href)
  } catch (error) {
    process.stderr.write(
      `  starting from the sources, which takes longer: ${error instanceof Error ? error.message : error}\n`,
    )
    const { register } = await import('tsx/esm/api')
    register()
    return import('../packages/node/src/main.ts')
  }
}

async function joinedFolder() {
  const folder = join(cache, stateOf([source, ...Object.values(ownPackages)]))
  if (existsSync(join(folder, 'main.mjs'))) {
    utimesSync(folder, new Date(), new Date())
    return folder
  }
  const { build } = await import('esbuild')
  // Two starts at once build twice; anyone who is first gives the folder its name.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  await build({
    entryPoints: [join(source, 'main.ts')],
    outdir: draft,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    alias: ownPackages,
    logLevel: 'silent',
    plugins: [ownAddresses],
  })
  forgetUnused()
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(join(folder, 'main.mjs'))) throw error
  }
  return folder
}

const keptMs = 30 * 86_400_000

/** Only what no start has used for long: a node that runs still loads parts of its own state of the sources. */
function forgetUnused() {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name)
    if (/^[0-9a-f]{32}/.test(name) && Date.now() - statSync(folder).mtimeMs > keptMs)
      rmSync(folder, { recursive: true, force: true })
  }
}

/** Files beside a module are found by the module's own address, wherever its code ends up. */
const ownAddresses = {
  name: 'own addresses',
  setup: (build) =>
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return { contents: text, loader: 'ts' }
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' }
    }),
}

/** Changes with every file that is added, removed or written. */
function stateOf(folders) {
  const hash = createHash('sha256').update(process.version)
  const entries = folders.flatMap((folder) => readdirSync(folder, { withFileTypes: true, recursive: true }))
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 32)
}
