import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { buildConsole, builtFolder, type ConsoleBuild, cacheFolder, stateOfSources } from './build-console.ts'

export type Encoding = 'br' | 'gzip' | 'identity'
export type Asset = { contentType: string; bodies: Record<Encoding, Uint8Array> }
export type Assets = { entries: ConsoleBuild['entries']; find(name: string): Asset | undefined; names(): string[] }

type Index = { entries: ConsoleBuild['entries']; names: string[] }

const contentTypes: readonly (readonly [ending: string, contentType: string])[] = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.txt', 'text/plain; charset=utf-8'],
]

/** Built once for each state of the sources; the first request waits for it, later ones get it from memory. */
export function createAssetLoader(): () => Promise<Assets> {
  let loading: Promise<Assets> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      // The next visitor tries again instead of meeting the failure of the first.
      loading = undefined
      throw error
    })
    return loading
  }
}

async function load(): Promise<Assets> {
  const built = readKept(builtFolder)
  if (built) return built
  const folder = join(cacheFolder, stateOfSources())
  const kept = readKept(folder)
  if (kept) return kept
  const { entries, files } = await buildConsole()
  const assets = new Map<string, Asset>()
  for (const { name, bytes } of files) assets.set(name, await pack(name, bytes))
  keep(folder, entries, assets)
  return asAssets(entries, assets)
}

/** For the published package. */
export async function writeConsole(folder: string): Promise<void> {
  const { entries, names, find } = await load()
  write(folder, entries, new Map(names().map((name) => [name, find(name) as Asset])))
}

const asAssets = (entries: Index['entries'], assets: ReadonlyMap<string, Asset>): Assets => ({
  entries,
  find: (name) => assets.get(name),
  names: () => [...assets.keys()],
})

// Two levels below the best: a twelfth of its time for a tenth more bytes.
const brotliQuality = 9
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

async function pack(name: string, bytes: Uint8Array): Promise<Asset> {
  const [br, gz] = await Promise.all([
    brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    zip(bytes, { level: 9 }),
  ])
  return { contentType: typeOf(name), bodies: { br, gzip: gz, identity: bytes } }
}

const typeOf = (name: string) =>
  contentTypes.find(([ending]) => name.endsWith(ending))?.[1] ?? 'application/octet-stream'

function readKept(folder: string): Assets | undefined {
  try {
    const { entries, names } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Index
    const assets = new Map<string, Asset>()
    for (const name of names)
      assets.set(name, {
        contentType: typeOf(name),
        bodies: {
          br: readFileSync(join(folder, `${name}.br`)),
          gzip: readFileSync(join(folder, `${name}.gz`)),
          identity: readFileSync(join(folder, name)),
        },
      })
    return asAssets(entries, assets)
  } catch {
    return undefined
  }
}

/** A folder that cannot be written costs the next start a build, and nothing else. */
function keep(folder: string, entries: Index['entries'], assets: ReadonlyMap<string, Asset>): void {
  const draft = `${folder}.${process.pid}`
  try {
    write(draft, entries, assets)
    for (const name of readdirSync(cacheFolder))
      if (/^[0-9a-f]{32}$/.test(name)) rmSync(join(cacheFolder, name), { recursive: true, force: true })
    if (!existsSync(folder)) renameSync(draft, folder)
  } catch {
    // See above.
  }
  rmSync(draft, { recursive: true, force: true })
}

function write(folder: string, entries: Index['entries'], assets: ReadonlyMap<string, Asset>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, { bodies }] of assets) {
    writeFileSync(join(folder, name), bodies.identity)
    writeFileSync(join(folder, `${name}.br`), bodies.br)
    writeFileSync(join(folder, `${name}.gz`), bodies.gzip)
  }
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ entries, names: [...assets.keys()] } satisfies Index))
}
