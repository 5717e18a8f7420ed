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

/** What the check finds in a tree of these files of the node, each with what it imports. */
async function problemsOf(name: string, files: Record<string, string>): Promise<string[]> {
  for (const [file, target] of Object.entries(files)) {
    const path = join(folder, name, 'packages', 'node', 'src', file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, target === '' ? '' : `import '${target}'\n`)
  }
  await writeFile(join(folder, name, 'packages', 'node', 'src', 'shop-list.ts'), shopList)
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
