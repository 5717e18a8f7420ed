// What is published, and the package.json of each: `exports` in the clone name sources, and are the one list of entry points.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { root } from '../install-if-missing.mjs'

/** In the order of publication: a package comes after those it depends on. */
export const publishable = ['protocol', 'till', 'sdk', 'conformance', 'node', 'cli']

const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'))
export const { version } = readJson('package.json')
export const manifestOf = (name) => readJson('packages', name, 'package.json')

/** Test files stay in the clone, and so do the entry points through which tests of other packages use them. */
const forTests = (file) => /\.(test|fixture)\.ts$|\/store\/testing\.ts$/.test(file)

/** Each entry point with its source: `{ name: '@assay/till/ledger', file: 'src/ledger/index.ts' }`; patterns are spelled out. */
export function entryPoints(name) {
  const { name: own, exports = {} } = manifestOf(name)
  return Object.entries(exports).flatMap(([key, target]) => {
    if (!key.includes('*')) return forTests(target) ? [] : [{ name: `${own}${key.slice(1)}`, file: target.slice(2) }]
    const [before, after] = target.slice(2).split('*')
    return filesBelow(join(root, 'packages', name, before))
      .map((file) => `${before}${file}`)
      .filter((file) => file.endsWith(after) && !forTests(file))
      .map((file) => ({ name: `${own}${key.slice(1).replace('*', file.slice(before.length, -after.length))}`, file }))
  })
}

export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

/** What a seller imports of the till; `build.mjs` writes what runtimes without TCP import instead. */
export const sellerEntries = [
  '.',
  './node',
  './hono',
  './express',
  './fastify',
  './next',
  './mcp',
  './embedded',
  './testing',
]
const withoutTcp = { 'edge-light': './dist/no-tcp.js', workerd: './dist/no-tcp.js' }

/** As it is published: built files instead of sources, one version for all. */
export function publishedManifest(name) {
  const { publishConfig, exports, ...manifest } = manifestOf(name)
  const built = (target) => target.replace('./src/', './dist/').replace(/\.ts$/, '')
  const entries = Object.entries(exports ?? {})
    .filter(([, target]) => !forTests(target))
    .map(([key, target]) => [
      key,
      {
        types: `${built(target)}.d.ts`,
        ...(name === 'till' && sellerEntries.includes(key) ? withoutTcp : {}),
        default: `${built(target)}.js`,
      },
    ])
  return {
    ...manifest,
    ...publishConfig,
    version,
    files: ['dist', 'NOTICE'],
    ...(exports === undefined
      ? {}
      : { exports: Object.fromEntries([...entries, ['./package.json', './package.json']]) }),
    ...sameVersion(manifest, 'dependencies'),
    ...sameVersion(manifest, 'peerDependencies'),
  }
}

function sameVersion(manifest, key) {
  if (manifest[key] === undefined) return {}
  const rows = Object.entries(manifest[key]).map(([name, range]) => [
    name,
    name.startsWith('@assay/') ? version : range,
  ])
  return { [key]: Object.fromEntries(rows) }
}
