import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
// @ts-expect-error a script without types
import { checkImports } from '../scripts/check-imports.mjs'

const folder = useFolder('imports')

const names = ['mesh', 'match', 'intents']
const shopList = `${names.map((name) => `import { ${name}Shop } from './shops/${name}/index.ts'\n`).join('')}
export const shopList: readonly ShopDeclaration[] = [\n${names.map((name) => `  ${name}Shop,\n`).join('')}]\n`

const importing = (target: string) => (target === '' ? '' : `import '${target}'\n`)

/** What the check finds in a tree of these files of the node, each with what it imports, and of one file of the command. */
function problemsOf(name: string, files: Record<string, string>, command?: string): Promise<string[]> {
  const nodes = Object.entries(files).map(([file, target]) => [`node/src/${file}`, importing(target)])
  return problemsIn(name, {
    ...Object.fromEntries(nodes),
    ...(command === undefined ? {} : { 'cli/src/mesh/run-mesh.ts': command }),
  })
}

/** What it finds in a tree of these files of packages, by their text. */
async function problemsIn(name: string, files: Record<string, string>): Promise<string[]> {
  for (const [file, text] of Object.entries({ ...files, 'node/src/shop-list.ts': shopList })) {
    const path = join(folder, name, 'packages', file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  return checkImports(join(folder, name)).problems
}

test('the imports of this repository go down', () => {
  expect(checkImports(join(import.meta.dirname, '..')).problems).toEqual([])
})

test('a shop without a line in the list is a problem, and nobody imports it', async () => {
  const problems = await problemsOf('new', {
    'shops/zzz/index.ts': '',
    'shops/zzz/inner.ts': '',
    'shops/intents/buy.ts': '../zzz/index.ts',
  })
  expect(problems).toEqual([
    expect.stringContaining('shops/zzz: shop-list.ts has no line for it'),
    expect.stringContaining('shops/intents/buy.ts: imports shops/zzz/index.ts, which is above it'),
  ])
})

test.each([
  ['the index of a shop that opens before it', 'shops/intents/a.ts', '../match/index.ts', undefined],
  ['a file of a shop that opens before it', 'shops/intents/b.ts', '../match/rank.ts', 'past its index.ts'],
  ['the index of a shop that opens later', 'shops/match/c.ts', '../intents/index.ts', 'in shop-list.ts it opens later'],
  ['a face', 'shops/match/e.ts', '../../faces/mcp/index.ts', 'which is above it'],
])('a shop imports %s', async (name, file, target, why) => {
  const problems = await problemsOf(name, { [file]: target })
  expect(problems).toEqual(why === undefined ? [] : [expect.stringContaining(why)])
})

/** This is what lets each shop be removed: no other file than those of later shops loses its types. `npm run shops` type-checks it. */
test.each([
  ['index.ts', './shops/mesh/index.ts'],
  ['node.ts', './shops/mesh/operator.ts'],
  ['compose/shops.ts', '../shops/mesh/index.ts'],
  ['faces/console/index.ts', '../../shops/mesh/index.ts'],
  ['config/variables.ts', '../shops/mesh/settings.ts'],
])('%s imports no shop', async (file, target) => {
  const problems = await problemsOf(`names-${file.replaceAll('/', '-')}`, { [file]: target })
  expect(problems).toContainEqual(expect.stringContaining('only shop-list.ts and shops that open later import a shop'))
})

test.each([
  ['type', "import type { Peer } from '@assay/node/shops/mesh'\n", 0],
  ['call', "const shop = await import('@assay/node/shops/mesh')\n", 0],
  ['statement', "import { addSeed } from '@assay/node/shops/mesh'\n", 1],
  ['re-export', "export { addSeed } from '@assay/node/shops/mesh'\n", 1],
])('the command imports a shop by a %s: %s', async (name, text, count) => {
  const problems = await problemsOf(`command-${name}`, {}, text)
  expect(problems).toEqual(Array.from({ length: count }, () => expect.stringContaining('use await import()')))
})

const migrations = {
  'till/src/store/migrations/0001_baseline.sql': 'create table payment (id text);',
  'node/src/tlog/migrations/0001_baseline.sql':
    'create table log_tree ();\ncreate function log_append(a text) returns void',
  'node/src/shops/mesh/migrations/0001_baseline.sql': 'create table mesh_peer ();',
  'node/src/shops/match/migrations/0001_baseline.sql': 'create table match_query (id text references payment);',
  'node/src/shops/intents/migrations/0001_baseline.sql': 'create table wish ();\ncreate sequence wish_seq;',
  'node/src/shops/intents/index.ts': "import '../match/index.ts'",
}

test.each([
  ['the log', 'till/src/signing/a.ts', 'select size from log_tree', 'names log_tree of node/tlog, which is above it'],
  ['the log by a call', 'till/src/signing/b.ts', 'select log_append($1)', 'names log_append( of node/tlog'],
  ['the log by name', 'till/src/signing/c.ts', 'log_tree', 'names log_tree of node/tlog'],
  [
    'the log in a migration',
    'till/src/store/migrations/0002_x.sql',
    'alter table log_tree',
    'names log_tree of node/tlog',
  ],
  [
    'a later shop',
    'node/src/shops/match/d.ts',
    'delete from wish',
    'names wish of node/shops/intents, which is above it',
  ],
  ['a shop it does not import', 'node/src/shops/match/e.ts', 'select from mesh_peer', 'a shop that it does not import'],
  ['a shop, by a face', 'node/src/faces/mcp/f.ts', 'from match_query', 'a shop that it does not import'],
  ['a shop, by a command', 'cli/src/mesh/g.ts', 'update wish set', 'a shop that it may not import'],
  ['a shop that it imports', 'node/src/shops/intents/h.ts', 'select from match_query', undefined],
  ['the till', 'cli/src/mesh/i.ts', 'select from payment', undefined],
  ['the log below', 'node/src/faces/tlog/j.ts', 'select log_append($1) from log_tree', undefined],
  ['what a word means elsewhere', 'till/src/signing/k.ts', "{ wish: 'log_append' }", undefined],
])('a file names a table of %s', async (name, file, text, why) => {
  const written = file.endsWith('.sql') ? text : `// from wish\nexport const text = \`${text}\`\n`
  const problems = await problemsIn(`tables-${name}`, { ...migrations, [file]: written })
  expect(problems).toEqual(why === undefined ? [] : [expect.stringContaining(why)])
})
