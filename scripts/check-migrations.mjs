// Migrations after the baseline run while the version before goes on selling: nothing in them may make it wait or fail.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** What a baseline was when it was fixed, beside it. What changes later is a migration; `--fix` writes them again while nothing is released. */
const fixedName = 'baseline.sha256'

const baseline = /(^|\/)0001_[a-z0-9_]+\.sql$/

/** What blocks readers or writers for as long as the table is large. */
const blocking = [
  [/\bcreate\s+(unique\s+)?index\s+(?!concurrently\b)/i, 'blocks writers: create the index concurrently'],
  [/\bdrop\s+index\s+(?!concurrently\b)/i, 'blocks readers: drop the index concurrently'],
  [
    /\badd\s+(constraint\s+\w+\s+)?(primary\s+key|unique)\b(?!\s+using\s+index)/i,
    'blocks writers: use an index that was created concurrently',
  ],
  [
    /\badd\s+(constraint\s+\w+\s+)?(check|foreign\s+key)\b(?![\s\S]*\bnot\s+valid\b)/i,
    'reads the whole table: add the constraint as not valid',
  ],
  [
    /\badd\s+column\b[^,;]*\breferences\b/i,
    'reads the whole table: add the foreign key as a constraint that is not valid',
  ],
  [/\balter\s+column\s+\S+\s+set\s+not\s+null\b/i, 'reads the whole table: use a check that is not valid'],
  [/\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i, 'rewrites the table: add a column of the new type'],
  [/\badd\s+column\b[^,;]*\bgenerated\b[^,;]*\bstored\b/i, 'rewrites the table: fill the column by a job'],
  [
    /\badd\s+column\b[^,;]*\bdefault\s+(gen_random_uuid|random|clock_timestamp|nextval)\b/i,
    'rewrites the table: the default differs by row',
  ],
  [/\b(vacuum\s+full|cluster\s+\w|lock\s+table|truncate)\b/i, 'locks the table'],
]

/** What the version before stumbles over, unless it says since when nothing uses it. */
const breaking = [
  [/\bdrop\s+(table|view|function|type|schema|sequence)\b/i, 'drops something the version before may use'],
  [/\bdrop\s+column\b/i, 'drops a column the version before may use'],
  [/\brename\s+(to|column|constraint)\b/i, 'renames something the version before may use'],
  [
    /\badd\s+column\s+(?:if\s+not\s+exists\s+)?\S+\s+(?![^,;]*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i,
    'adds a column that the version before does not fill',
  ],
]

/** What the oldest server that a node runs on does not know, in the baseline too. */
const tooNew = [
  [
    /^\s*\w+\s+(bytea|text|jsonb)\s+storage\b/im,
    'storage of a column in `create table` needs PostgreSQL 16: set it by `alter table`',
  ],
]

const contractMark = /^-- contract: .{10,}$/m

/**
 * What is wrong with a migration. `isInUse` says whether the code of this release still names a column.
 * @param {{ name: string, text: string }} migration
 * @param {(column: string) => boolean} isInUse
 */
export function migrationProblems({ name, text }, isInUse = () => false) {
  // Functions and triggers are replaced as a whole.
  const plain = text.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '').replace(/--.*$/gm, '')
  const unknown = tooNew.filter(([pattern]) => pattern.test(plain)).map(([, what]) => what)
  if (baseline.test(name)) return unknown
  const made = new Set(
    [...plain.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi)].map(([, table]) => table),
  )
  const statements = plain
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && !made.has(tableOf(statement)))
  const rules = contractMark.test(text) ? blocking : [...blocking, ...breaking]
  const problems = [
    ...unknown,
    ...statements.flatMap((statement) => rules.filter(([pattern]) => pattern.test(statement)).map(([, what]) => what)),
  ]
  if (/\bconcurrently\b/i.test(plain) && plain.split(';').filter((part) => part.trim() !== '').length > 1)
    problems.push('does more than one thing: an index built concurrently needs a separate file')
  if (/\bnot\s+valid\b/i.test(plain) && /\bvalidate\s+constraint\b/i.test(plain))
    problems.push('reads the whole table under the lock: validate the constraint in a later migration')
  for (const [, column = ''] of plain.matchAll(/\bdrop\s+column\s+(?:if\s+exists\s+)?(\w+)/gi))
    if (isInUse(column)) problems.push(`drops ${column}, which this release still uses`)
  return problems
}

function tableOf(statement) {
  return (
    /\balter\s+table\s+(?:only\s+)?(\w+)/i.exec(statement)?.[1] ??
    /\bindex\s+(?:if\s+not\s+exists\s+)?\w+\s+on\s+(?:only\s+)?(\w+)/i.exec(statement)?.[1]
  )
}

function* filesBelow(folder, pattern) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesBelow(path, pattern)
    else if (pattern.test(entry.name)) yield path
  }
}

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/**
 * Baselines that are not what they were fixed as.
 * @param {Record<string, string>} fixed
 * @param {{ name: string, text: string }[]} migrations
 */
export function baselineProblems(fixed, migrations) {
  const now = Object.fromEntries(
    migrations.filter(({ name }) => baseline.test(name)).map(({ name, text }) => [name, sha256(text)]),
  )
  const names = [...new Set([...Object.keys(fixed), ...Object.keys(now)])].sort()
  return names
    .filter((name) => fixed[name] !== now[name])
    .map((name) =>
      fixed[name] === undefined
        ? `${name}: a new baseline: node scripts/check-migrations.mjs --fix`
        : `${name}: the baseline was changed: add a migration instead`,
    )
}

function main() {
  const packages = join(root, 'packages')
  const code = [...filesBelow(packages, /(?<!\.(test|fixture))\.ts$/)]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const words = new Set(code.match(/\w+/g))
  const migrations = [...filesBelow(packages, /\.sql$/)].map((path) => ({
    name: relative(root, path),
    text: readFileSync(path, 'utf8'),
  }))
  if (process.argv.includes('--fix'))
    for (const { name, text } of migrations.filter(({ name }) => baseline.test(name)))
      writeFileSync(join(root, dirname(name), fixedName), `${sha256(text)}  ${basename(name)}\n`)
  const fixed = Object.fromEntries(
    [...filesBelow(packages, /^baseline\.sha256$/)].map((path) => {
      const [hash, file] = readFileSync(path, 'utf8').trim().split('  ')
      return [relative(root, join(dirname(path), file)), hash]
    }),
  )
  const problems = [
    ...baselineProblems(fixed, migrations),
    ...migrations.flatMap((migration) =>
      migrationProblems(migration, (column) => words.has(column)).map((what) => `${migration.name}: ${what}`),
    ),
  ]
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
