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
async function problemsOf(name: string, files: Record<string, string>, command?: string): Promise<string[]> {
  const write = async (packageName: string, file: string, text: string) => {
    const path = join(folder, name, 'packages', packageName, 'src', file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  for (const [file, target] of Object.entries(files)) await write('node', file, importing(target))
  if (command !== undefined) await write('cli', 'mesh/run-mesh.ts', command)
  await write('node', 'shop-list.ts', shopList)
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
