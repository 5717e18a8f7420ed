import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
// @ts-expect-error a script without types
import { checkImports } from '../scripts/check-imports.mjs'

const folder = useFolder('imports')

/** What the check finds in a tree of these files of the node, each with what it imports. */
async function problemsOf(name: string, files: Record<string, string>): Promise<string[]> {
  for (const [file, target] of Object.entries(files)) {
    const path = join(folder, name, 'packages', 'node', 'src', file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, target === '' ? '' : `import '${target}'\n`)
  }
  return checkImports(join(folder, name)).problems
}

test('the imports of this repository go down', () => {
  expect(checkImports(join(import.meta.dirname, '..')).problems).toEqual([])
})

test('a shop that the order does not list is a problem that says what to do, and nobody imports its files', async () => {
  const problems = await problemsOf('new', {
    'shops/zzz/index.ts': '',
    'shops/zzz/inner.ts': '',
    'shops/options/buy.ts': '../zzz/inner.ts',
  })
  expect(problems).toEqual([
    expect.stringMatching(/shops\/zzz: the order of the shops does not list it. Add 'shops\/zzz' to `folders`/),
    expect.stringContaining('shops/options/buy.ts: imports shops/zzz/inner.ts'),
  ])
})

test.each([
  ['the index of a shop below', 'shops/intents/a.ts', '../match/index.ts', undefined],
  ['a file of a shop below', 'shops/intents/b.ts', '../match/rank.ts', 'past its index.ts'],
  ['the index of a shop above', 'shops/match/c.ts', '../intents/index.ts', 'which is above it'],
  ['the index of a shop in the same line', 'shops/tokens/d.ts', '../mesh/index.ts', undefined],
  ['a face', 'shops/match/e.ts', '../../faces/mcp/index.ts', 'which is above it'],
])('a shop imports %s', async (name, file, target, why) => {
  const problems = await problemsOf(name, { [file]: target })
  expect(problems).toEqual(why === undefined ? [] : [expect.stringContaining(why)])
})
