import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the console as the browser asks for it; its name changes with its content. */
export type BuiltFile = { name: string; bytes: Uint8Array }

/** `entries` are the names of the files that the page itself loads. */
export type ConsoleBuild = {
  files: BuiltFile[]
  entries: {
    script: string
    style: string
    theme: string
    preloads: string[]
    reference: string
    referenceStyle: string
  }
}

const packages = fileURLToPath(new URL('../../../../', import.meta.url))
const source = join(packages, 'web', 'src')

/** As the published package brings it. */
export const builtFolder = fileURLToPath(new URL('./built/', import.meta.url))

/** Without the console, GET / returns the index to every client. */
export const hasConsole = (): boolean =>
  [join(source, 'main.tsx'), join(builtFolder, 'index.json')].some((file) => existsSync(file))

/** Joins the sources of the console into a few small files. Pages and wallet code stay apart, so that each loads when it is used. */
export async function buildConsole(): Promise<ConsoleBuild> {
  // Only here, so that a node whose console was built before never loads the compiler.
  const { build } = await import('esbuild')
  const outdir = join(source, 'out')
  const { outputFiles, metafile } = await build({
    entryPoints: {
      console: join(source, 'main.tsx'),
      theme: join(source, 'theme.ts'),
      reference: join(source, 'reference', 'main.ts'),
    },
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'linked',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const files = outputFiles.map(({ path, contents }) => ({ name: relative(outdir, path), bytes: contents }))
  const entry = (prefix: string, ending: string) => {
    const name = files.find((file) => file.name.startsWith(`${prefix}-`) && file.name.endsWith(ending))?.name
    if (name === undefined) throw new Error(`the console has no ${prefix}${ending}`)
    return name
  }
  const script = entry('console', '.js')
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  return {
    files,
    entries: {
      script,
      style: entry('console', '.css'),
      theme: entry('theme', '.js'),
      preloads: importsOf(outputs, script),
      reference: entry('reference', '.js'),
      referenceStyle: entry('reference', '.css'),
    },
  }
}

type Output = { imports: readonly { path: string; kind: string }[] }

/** What a script needs before it can run: named in the page, so that the browser asks for all of it at once. */
function importsOf(outputs: ReadonlyMap<string, Output>, name: string): string[] {
  const found = new Set<string>()
  const visit = (from: string) => {
    for (const { path, kind } of outputs.get(from)?.imports ?? []) {
      const needed = basename(path)
      if (kind !== 'import-statement' || found.has(needed)) continue
      found.add(needed)
      visit(needed)
    }
  }
  visit(name)
  return [...found]
}

/** Changes with every source that is added, removed or written, and with the compiler and libraries. */
export function stateOfSources(): string {
  const hash = createHash('sha256').update(process.version)
  for (const folder of [source, join(packages, 'sdk', 'src'), join(packages, 'protocol', 'src')]) {
    const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    for (const path of paths.sort()) {
      const { mtimeMs, size } = statSync(path)
      hash.update(`${relative(packages, path)} ${mtimeMs} ${size}\n`)
    }
  }
  hash.update(readFileSync(join(packages, 'web', 'package.json')))
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  return hash.digest('hex').slice(0, 32)
}

export const cacheFolder = join(packages, '..', 'node_modules', '.cache', 'assay-console')
