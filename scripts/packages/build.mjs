// Builds every published package into a folder below `out`: ESM, declarations, and the files that are read at run time.
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { build as bundle } from 'esbuild'
import { register } from 'tsx/esm/api'
import { root } from '../install-if-missing.mjs'
import { entryPoints, filesBelow, manifestOf, publishable, publishedManifest, sellerEntries } from './manifest.mjs'

/** The command is one program without entry points; the others are libraries and keep their files apart. */
const libraries = publishable.filter((name) => name !== 'cli')
const sourceOf = (name) => join(root, 'packages', name, 'src')

export async function buildPackages(out) {
  const emitted = join(out, '.emitted')
  // Some of what is written is read from sources.
  register()
  await Promise.all([
    compile(emitted),
    bundleCommand(join(out, 'cli', 'dist')),
    writeConsole(join(emitted, 'packages', 'node', 'src')),
  ])
  for (const name of libraries) {
    const dist = join(out, name, 'dist')
    mkdirSync(join(out, name), { recursive: true })
    renameSync(join(emitted, 'packages', name, 'src'), dist)
    copyAssets(name, dist)
    for (const file of filesBelow(dist)) if (/\.(d\.ts|js)$/.test(file)) finishFile(name, dist, file)
  }
  rmSync(emitted, { recursive: true })
  await writeWithoutTcp(join(out, 'till', 'dist', 'no-tcp.js'))
  for (const name of publishable) {
    const manifest = publishedManifest(name)
    writeFileSync(join(out, name, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    copyFileSync(join(root, 'packages', name, 'README.md'), join(out, name, 'README.md'))
    for (const file of ['LICENSE', 'NOTICE']) copyFileSync(join(root, file), join(out, name, file))
    checkImports(manifest, join(out, name, 'dist'))
  }
}

/** One program for all libraries. Their types are checked with those of the tests, so not here again. */
async function compile(outDir) {
  const entries = libraries.flatMap((name) =>
    entryPoints(name).map((entry) => ({ ...entry, folder: join(root, 'packages', name) })),
  )
  const files = [
    ...entries.map(({ folder, file }) => join(folder, file)),
    ...libraries.flatMap(threadEntries),
    ...libraries.flatMap(commandEntries),
  ]
  // By path and not through node_modules, whose files the compiler never writes.
  const paths = Object.fromEntries(entries.map(({ name, folder, file }) => [name, [join(folder, file)]]))
  const options = { noEmit: false, declaration: true, noCheck: true, rootDir: root, outDir, paths }
  mkdirSync(outDir, { recursive: true })
  const config = join(outDir, 'tsconfig.json')
  const extended = { extends: join(root, 'tsconfig.json'), compilerOptions: options, files, include: [], exclude: [] }
  writeFileSync(config, JSON.stringify(extended))
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', config, '--singleThreaded'])
}

/** A library that is also a command. */
const commandEntries = (name) =>
  Object.values(publishedManifest(name).bin ?? {}).map((file) =>
    join(sourceOf(name), file.replace('./dist/', '').replace(/\.js$/, '.ts')),
  )

/** Threads begin with a .mjs file, which names the module it starts. */
function threadEntries(name) {
  return filesBelow(sourceOf(name))
    .filter((file) => file.endsWith('.mjs'))
    .flatMap((file) => {
      const path = join(sourceOf(name), file)
      const started = readFileSync(path, 'utf8').matchAll(/import\('(\.\/[^']+)\.js'\)/g)
      return [...started].map(([, module]) => resolve(dirname(path), `${module}.ts`))
    })
}

const bundleCommand = (outdir) =>
  bundle({
    entryPoints: [join(sourceOf('cli'), 'main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  })

async function writeConsole(node) {
  const console = await import('../../packages/node/src/faces/console/assets.ts')
  await console.writeConsole(join(node, 'faces', 'console', 'built'))
}

/** Stands for every entry point that a seller imports, and says so where a runtime has no TCP, instead of failing in a driver. */
async function writeWithoutTcp(file) {
  const { exports } = manifestOf('till')
  const { metafile } = await bundle({
    entryPoints: sellerEntries.map((key) => join(root, 'packages', 'till', exports[key])),
    outdir: dirname(file),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const names = [...new Set(Object.values(metafile.outputs).flatMap((entry) => entry.exports))].sort()
  writeFileSync(
    file,
    `function unsupported() {
  throw new Error("@assay/till needs TCP to reach its database, and this runtime has none: run it on Node; in Next, export const runtime = 'nodejs'")
}
export { ${names.map((name) => `unsupported as ${name}`).join(', ')} }
`,
  )
}

/** Everything in the sources that is not TypeScript is read at run time. JSON is compiled. */
function copyAssets(name, dist) {
  for (const file of filesBelow(sourceOf(name))) {
    if (/\.(ts|json|sha256)$/.test(file)) continue
    mkdirSync(dirname(join(dist, file)), { recursive: true })
    copyFileSync(join(sourceOf(name), file), join(dist, file))
  }
}

/** The compiler leaves `.ts` in declarations, and JSON modules, which Node 20 warns of, in the code. */
function finishFile(name, dist, file) {
  const path = join(dist, file)
  const jsonModule = (_, specifier) => {
    const from = resolve(dirname(join(sourceOf(name), file)), specifier)
    const place = relative(sourceOf(name), from)
    const target = join(
      dist,
      place.startsWith('..') ? join('contracts', place.split('contracts/artifacts/')[1]) : place,
    )
    const text = readFileSync(from, 'utf8')
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(`${target}.js`, `export default ${text}`)
    // A JSON text is also a type: that of its own value.
    writeFileSync(`${target}.d.ts`, `declare const value: ${text}\nexport default value\n`)
    rmSync(target, { force: true })
    return `'./${relative(dirname(path), target)}.js'`.replace("'./../", "'../")
  }
  const text = readFileSync(path, 'utf8')
  const finished = text
    .replace(/(?<=from )'(\.[^']+\.json)'(?: with \{ type: 'json' \})?/g, jsonModule)
    .replace(file.endsWith('.d.ts') ? /((?:from |import\()(['"])\.[^'"]+)\.ts(?=\2)/g : /(?!)/g, '$1.js')
  if (finished !== text) writeFileSync(path, finished)
}

/** Imported where sources are found, and never otherwise. */
const onlyInClone = ['esbuild', 'tsx/esm/api']

/** As a statement or a call; SQL has its own `from`. */
const importOf = /(?:^(?:import|export)\b(?:[^"'=;()]*\bfrom)? ?|\bimport\()["']([^"'\s]+)["']/gm

/** What a built file imports is a file of the package, Node's, or a declared dependency. */
function checkImports({ name, dependencies, optionalDependencies, peerDependencies }, dist) {
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })])
  for (const file of filesBelow(dist)) {
    if (!/\.(js|mjs|d\.ts)$/.test(file) || file.includes('/built/')) continue
    const text = readFileSync(join(dist, file), 'utf8')
    for (const [, specifier] of text.matchAll(importOf)) {
      if (/^\./.test(specifier) || isBuiltin(specifier) || onlyInClone.includes(specifier)) continue
      const wanted = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      if (!declared.has(wanted)) throw new Error(`${name}: ${file} imports ${specifier}, which is no dependency of it`)
    }
  }
}

function run(command, args) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', fail)
    child.on('close', (code) => (code === 0 ? done() : fail(new Error(`${command} ended with ${code}`))))
  })
}
