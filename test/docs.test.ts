import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tableOf as benchmarksTable, type Result } from '../bench/all/document.ts'
import { type MutatedTarget, tableOf as mutationTable } from '../bench/mutation/recorded.ts'
import { type ProfiledPath, tableOf as profileTable } from '../bench/profile/recorded.ts'
import { readRecord, withTables } from '../bench/record.ts'
import { type ScaleRun, tablesOf as scaleTables } from '../bench/scale/recorded.ts'
import { exitCodeTexts } from '../packages/cli/src/exit-codes.ts'
import { paymentStates } from '../packages/cli/src/operator/payment-states.ts'
import { createProgram } from '../packages/cli/src/program.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { describeVariables } from '../packages/node/src/config/load-config.ts'
import { shopList } from '../packages/node/src/shop-list.ts'
import { knownProblems } from '../packages/till/src/kernel/problem.ts'
import { tillRetention } from '../packages/till/src/store/retention.ts'
import { tableOf as promisesTable, type Recorded } from './promises/recorded.ts'
import { toyProblems } from './toys/shop.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const sectionOf = (text: string, heading: string) => {
  const [, after = ''] = text.split(`\n## ${heading}\n`)
  return after.split('\n## ')[0] ?? ''
}
/** The first cell of each row of a table, without its code marks. */
const firstCells = (text: string) => [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell)

/** The page with these rows in its first table. What differs is written by `npx vitest run test/docs.test.ts -u`. */
const withRows = (page: string, rows: readonly string[]) =>
  read(page).replace(
    /(\n\|(?:---\|)+\n)(?:\| `.*\n)+/,
    (_, head) => `${head}${rows.map((row) => `| ${row} |\n`).join('')}`,
  )

test('docs/configuration.md has the variables as they are declared', async () => {
  const declared = Object.entries(describeVariables(shopList))
  const rows = declared.map(([name, { shown, description }]) => `\`${name}\` | ${shown} | ${description}`)
  await expect(withRows('docs/configuration.md', rows)).toMatchFileSnapshot('../docs/configuration.md')
})

test('docs/errors.md is the table of problems', async () => {
  // Other files of this process may have defined problems of shops that are not the node's, and in another order.
  const own = knownProblems().filter(({ code }) => !(code in toyProblems))
  const rows = own.map(
    ({ code, status, retryable, title, hint }) =>
      `\`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${title} | ${hint}`,
  )
  await expect(withRows('docs/errors.md', rows.sort())).toMatchFileSnapshot('../docs/errors.md')
})

test('docs/retention.md has the rules of the till and of each shop', async () => {
  const rules = [tillRetention, ...shopList.map(({ retention }) => retention)].flat()
  const rows = rules.map(({ tables, addedBy, kept, why, deletedBy }) =>
    [tables.map((table) => `\`${table}\``).join(', '), addedBy, kept, why, deletedBy]
      .join(' | ')
      .trimEnd()
      .replaceAll('|  |', '| |'),
  )
  await expect(withRows('docs/retention.md', rows)).toMatchFileSnapshot('../docs/retention.md')
})

test.each([
  ['benchmarks', () => [benchmarksTable(readRecord<Result>('benchmarks'))]],
  ['mutation', () => [mutationTable(readRecord<MutatedTarget>('mutation'))]],
  ['profile', () => [profileTable(readRecord<ProfiledPath>('profile'))]],
  ['promises', () => [promisesTable(readRecord<Recorded>('promises'))]],
  ['scale', () => scaleTables(readRecord<ScaleRun>('scale'))],
] as const)('docs/%s.md has the figures that were recorded', async (page, tables) => {
  const text = withTables(read(`docs/${page}.md`), tables())
  await expect(text).toMatchFileSnapshot(`../docs/${page}.md`)
})

test('docs/command-line.md has the exit codes of the program', () => {
  const rows = [...sectionOf(read('docs/command-line.md'), 'Exit codes').matchAll(/^\| (\d) \| (.*) \|$/gm)]
  expect(Object.fromEntries(rows.map(([, code, text]) => [code, text]))).toEqual(exitCodeTexts)
})

test('docs/payments.md explains every state a payment can be in', () => {
  const migration = read('packages/till/src/store/migrations/0001_baseline.sql')
  const [, list = ''] = /create table payment \([^;]*?state in\s*\(([^)]*)\)/.exec(migration) ?? []
  const states = list.split(',').map((state) => state.trim().slice(1, -1))
  expect(firstCells(sectionOf(read('docs/payments.md'), 'States')).sort()).toEqual([...states].sort())
  expect([...paymentStates].sort()).toEqual([...states].sort())
})

function* sourcesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sourcesBelow(path)
    else if (/\.ts$/.test(entry.name) && !/\.(test|fixture)\.ts$/.test(entry.name)) yield readFileSync(path, 'utf8')
  }
}

/** What to do about each alarm, for the console: the last column of their table, without links, for it has no documents. */
function alarmAdvice(alarms: string): string {
  const rows = [...alarms.matchAll(/^\| `([a-z_]+)` \| .* \| (.*) \|$/gm)].map(([, name, text = '']) => {
    const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1 (docs/operations.md)').replace(/'/g, '’')
    return `  ${name}:\n    '${plain}',\n`
  })
  return `// Written by test/docs.test.ts from docs/operations.md.\nexport const alarmAdvice: Readonly<Record<string, string>> = {\n${rows.join('')}}\n`
}

test('docs/operations.md lists every metric and every alarm of the code, and no other', async () => {
  const code = ['packages/node/src', 'packages/till/src']
    .flatMap((folder) => [...sourcesBelow(join(root, folder))])
    .join('\n')
  const suffixes: Record<string, string> = { count: '_total', gauge: '', observeMs: '_seconds' }
  const used = [...code.matchAll(/metrics\s*\.(count|gauge|observeMs)\(\s*'([a-z_]+)'/g)].map(
    ([, kind = '', name = '']) =>
      // Some callers write the whole name, others leave prefix and suffix to the port.
      `assay_${name.replace(/^assay_/, '').replace(/_total$/, '')}${suffixes[kind]}`,
  )
  const operations = read('docs/operations.md')
  expect(firstCells(sectionOf(operations, 'Metrics')).sort()).toEqual([...new Set(used)].sort())
  const alarms = [...code.matchAll(/alarm: '([a-z_]+)'/g)].map(([, name]) => name)
  expect(firstCells(sectionOf(operations, 'Alarms')).sort()).toEqual([...new Set(alarms)].sort())
  const target = '../packages/node/src/faces/console/alarm-advice.generated.ts'
  await expect(alarmAdvice(sectionOf(operations, 'Alarms'))).toMatchFileSnapshot(target)
})

const documents = () => [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map((path) => `docs/${path}`)
    .filter((path) => path.endsWith('.md')),
]

test('every document that is linked exists', () => {
  for (const document of documents())
    for (const [, target = ''] of read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g))
      expect(() => statSync(join(root, dirname(document), target)), `${document} links to ${target}`).not.toThrow()
})

const packages = readdirSync(join(root, 'packages'))
const readmes = packages.map((name) => `packages/${name}/README.md`)

const skipped = new Set(['node_modules', 'dist', '.git'])

function* pathsBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue
    const path = join(folder, entry.name)
    yield path
    if (entry.isDirectory()) yield* pathsBelow(path)
  }
}

/** Written by the reader or by a run, or no path at all. */
const notInTheSources = new Set([
  'first-purchase.mjs',
  'stock-purchase.mjs',
  'curl-pay.mjs',
  'test/.screenshots',
  'tools/call',
])

test('every source file and folder that a document names exists', () => {
  const everything = [...pathsBelow('')]
  const bases = ['', 'packages/', ...packages.map((name) => `packages/${name}/src/`)]
  const firstFolders = new Set(
    bases.flatMap((base) => readdirSync(join(root, base), { withFileTypes: true }).map(({ name }) => name)),
  )
  const isPath = (name: string) =>
    !name.startsWith('node_modules/') &&
    (/\.(?:tsx?|mjs|sql)$/.test(name) || (/^\w[\w.<>*/-]*\/./.test(name) && firstFolders.has(name.split('/')[0] ?? '')))
  const isThere = (name: string) => {
    const pattern = name
      .replace(/\/$/, '')
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]*')
      .replace(/<[^>]+>/g, '[^/]+')
    // A name without a folder is that of a file in the folder of which the page speaks.
    const path = new RegExp(`^(?:${name.includes('/') ? bases.join('|') : '.*/'})${pattern}$`)
    return everything.some((one) => path.test(one))
  }
  const missing = [...documents(), ...readmes].flatMap((document) => {
    const prose = read(document).replace(/^( *)```[\s\S]*?^\1```/gm, '')
    const words = [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, marked = '']) => marked.split(/[\s,=]+/))
    const named = words.filter((word) => /^[a-z]/.test(word) && isPath(word) && !notInTheSources.has(word))
    return named.filter((name) => !isThere(name)).map((name) => `${document}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('the tables of folders in CONTRIBUTING and the READMEs name every folder of the sources and no other', () => {
  const compared = ['CONTRIBUTING.md', ...readmes].flatMap((document) => {
    const tables = read(document).matchAll(/([^\n]*)\n\n\| folder[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/g)
    return [...tables].map(([, before = '', rows = '']) => {
      const [sources = join(dirname(document), 'src')] = /packages\/\w+\/src/.exec(before) ?? []
      const cells = rows.split('\n').map((row) => row.split(' | ')[0] ?? '')
      const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`*]+?)\/?`/g)].map(([, name = '']) => name))
      const entries = readdirSync(join(root, sources), { withFileTypes: true })
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
      expect(named.filter((name) => !name.includes('.')).sort(), `${document}: ${sources}`).toEqual(folders.sort())
      const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
      expect(files, document).toEqual(expect.arrayContaining(named.filter((name) => name.includes('.'))))
      return sources
    })
  })
  expect(new Set(compared)).toEqual(new Set(['node', 'till', 'web'].map((name) => `packages/${name}/src`)))
})

test('every entry point that a README names is exported', () => {
  for (const document of ['README.md', ...readmes])
    for (const [entry, name = '', below = ''] of read(document).matchAll(
      /@assay\/([a-z]+)((?:\/[a-z0-9-]+)*(?:\/<)?)/g,
    )) {
      expect(packages, `${document}: ${entry}`).toContain(name)
      if (below === '') continue
      const { exports = {} } = JSON.parse(read(`packages/${name}/package.json`)) as { exports?: Record<string, string> }
      // `shops/<name>` stands for every name.
      if (below.endsWith('/<')) {
        expect(Object.keys(exports), `${document}: ${entry}name>`).toContain(`.${below.slice(0, -1)}*`)
        continue
      }
      const file = exports[`.${below}`] ?? exports['./*']?.replace('*', below.slice(1))
      expect(file, `${document}: ${entry}`).toBeDefined()
      expect(() => statSync(join(root, 'packages', name, file ?? '')), `${document}: ${entry}`).not.toThrow()
    }
})

test('every test that docs/rehearsal.md names exists', () => {
  const [, table = ''] = read('docs/rehearsal.md').split('\n## Point by point\n')
  const rows = [...table.matchAll(/^\| [^|]+ \| `([^`]+)`: (.+) \|$/gm)]
  expect(rows.length).toBeGreaterThan(50)
  for (const [, file = '', name = ''] of rows) expect(read(file), `${file}: ${name}`).toContain(name)
})

test('the commands that documents show exist', async () => {
  const program = createProgram({ terminal: createTestTerminal(), endWith: () => {} })
  const texts = ['README.md', 'docs/operations.md', 'docs/payments.md', 'docs/configuration.md', 'docs/command-line.md']
    .map(read)
    .join('\n')
  for (const [line, first, second] of texts.matchAll(/(?:npx |`)assay ([a-z]+)(?: ([a-z]+(?:-[a-z]+)*))?/g)) {
    const command = program.commands.find((one) => one.name() === first)
    expect(command, line).toBeDefined()
    if (command && command.commands.length > 0 && second !== undefined)
      expect(
        command.commands.map((one) => one.name()),
        line,
      ).toContain(second)
  }
})
