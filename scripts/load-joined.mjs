// The sources as a few plain files. Loading a thousand TypeScript modules one by one takes seconds of every start;
// joining them takes a fraction of one, once for each state of the sources.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from './install-if-missing.mjs'

const shops = join(root, 'packages', 'node', 'src', 'shops')

/** The programs of the clone and their threads; esbuild lets them share what several use. */
const programs = {
  node: join(root, 'packages', 'node', 'src', 'main.ts'),
  cli: join(root, 'packages', 'cli', 'src', 'main.ts'),
  conformance: join(root, 'packages', 'conformance', 'src', 'main.ts'),
  'index-worker': join(shops, 'match', 'index-worker.ts'),
  'page-worker': join(shops, 'attestations', 'attest', 'page-worker.ts'),
}
const sources = ['node', 'till', 'protocol', 'sdk', 'conformance', 'cli'].map((name) =>
  join(root, 'packages', name, 'src'),
)
const cache = join(root, 'node_modules', '.cache', 'assay')

/** Returns the module of a program, joined where that can be done and unchanged otherwise. */
export async function loadJoined(name) {
  let folder
  try {
    folder = await joinedFolder()
  } catch (error) {
    process.stderr.write(
      `  starting from the sources, which takes longer: ${error instanceof Error ? error.message : error}\n`,
    )
    const { register } = await import('tsx/esm/api')
    register()
    return import(pathToFileURL(programs[name]).href)
  }
  return import(pathToFileURL(join(folder, `${name}.mjs`)).href)
}

async function joinedFolder() {
  const folder = join(cache, stateOf(sources))
  if (existsSync(join(folder, 'node.mjs'))) {
    utimesSync(folder, new Date(), new Date())
    return folder
  }
  const said = sayPreparing()
  const { build, stop } = await import('esbuild')
  // Two starts at once build twice; the first to finish renames its folder into place.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  const { outputFiles } = await build({
    entryPoints: programs,
    outdir: draft,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    write: false,
    plugins: [othersStay, ownAddresses],
  })
  for (const { path, text } of outputFiles) writeFileSync(path, text.replace(/[^\0-\x7f]/g, escaped))
  // Its process would stay for as long as the node, with 200 MB.
  await stop()
  said.end()
  deleteUnused()
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(join(folder, 'node.mjs'))) throw error
  }
  return folder
}

/** One letter beyond Latin-1 in a regular expression or comment makes the engine hold all of a file with two bytes a letter. */
const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Only where somebody looks, with a dot for each second. */
function sayPreparing() {
  const { stderr } = process
  if (!stderr.isTTY) return { end: () => {} }
  stderr.write('  preparing the sources (once after a change) ')
  const dots = setInterval(() => stderr.write('.'), 1_000).unref()
  return {
    end: () => {
      clearInterval(dots)
      stderr.write('\n')
    },
  }
}

const keptMs = 30 * 86_400_000

/** Only what no start has used for long: a node that runs still loads parts of its own state of the sources. */
function deleteUnused() {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name)
    if (/^[0-9a-f]{32}/.test(name) && Date.now() - statSync(folder).mtimeMs > keptMs)
      rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Our own packages are joined, and those of others that are hundreds of plain files of which a few are used. Others stay
 * where they are, which may be below one of ours.
 */
const joined = /^(@assay|@noble|@scure|abitype|ox|viem|zod)(\/|$)/
const othersStay = {
  name: 'others stay',
  setup: (build) =>
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || joined.test(path) || pluginData === 'asked') return undefined
      const nested =
        importer.startsWith(join(root, 'packages')) && existsSync(join(ownFolder(importer), 'node_modules', path))
      if (!nested) return { path, external: true }
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: 'asked' })
      return { path: found.path, external: true }
    }),
}

const ownFolder = (file) => join(root, ...relative(root, file).split(sep).slice(0, 2))

/**
 * Files beside a module are found by the module's own address, wherever its code ends up. Threads are joined as well: the
 * loader of TypeScript would take each a second and 60 MB.
 */
const ownAddresses = {
  name: 'own addresses',
  setup: (build) =>
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = JSON.stringify(pathToFileURL(path).href)
      const contents = readFileSync(path, 'utf8')
        .replace(/'\.\/start-([a-z]+-worker\.mjs)', import\.meta\.url/, "'./$1', import.meta['url']")
        .replaceAll('import.meta.url', own)
      return { contents, loader: 'ts' }
    }),
}

/** Changes with every file that is added, removed or written, and with the versions of packages. */
function stateOf(folders) {
  const hash = createHash('sha256')
    .update(process.version)
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .update(readFileSync(join(root, 'package-lock.json')))
  const entries = folders.flatMap((folder) => readdirSync(folder, { withFileTypes: true, recursive: true }))
  const files = entries.filter((entry) => entry.isFile())
  const states = files.map((entry) => {
    const path = `${entry.parentPath ?? entry.path}${sep}${entry.name}`
    const { mtimeMs, size } = statSync(path)
    return `${path} ${mtimeMs} ${size}`
  })
  hash.update(states.join('\n'))
  return hash.digest('hex').slice(0, 32)
}
