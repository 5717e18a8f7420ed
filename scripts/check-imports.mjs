// The direction of imports: a file imports only from its own folder and from floors below it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'packages', 'node', 'src')

// Top to bottom. Shops share a floor: they see each other only through index.ts.
const shops = [
  'tokens',
  'matrix',
  'subscriptions',
  'rewards',
  'citations',
  'royalties',
  'market',
  'identity',
  'mesh',
  'discovery',
  'till',
  'console',
]
const floors = [
  'http',
  'payments',
  'payouts',
  'ledger',
  'proofs',
  'outbound',
  'chain',
  'devnet',
  'signing',
  'jobs',
  'store',
  'kernel',
]
const height = new Map([
  ...shops.map((name) => [name, floors.length]),
  ...floors.map((name, index) => [name, floors.length - 1 - index]),
])

// The composition root wires everything; nothing imports it but the outside.
const compositionFiles = new Set(['main.ts', 'node.ts', 'config.ts', 'index.ts', 'start-summary.ts'])
const compositionFolders = new Set(['compose', 'configuration'])

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.name.endsWith('.ts')) yield path
  }
}

const isTest = (path) => /\.(test|fixture)\.ts$/.test(path) || /(^|\/)(testing|test-deps)\.ts$/.test(path)
const problems = []

for (const path of filesBelow(source)) {
  const name = relative(source, path).split(sep).join('/')
  const text = readFileSync(path, 'utf8')
  if (!name.includes('/') || isTest(name)) continue
  const folder = name.split('/')[0]
  if (compositionFolders.has(folder)) continue
  if (!height.has(folder)) problems.push(`${name}: ${folder}/ has no floor in scripts/check-imports.mjs`)
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = relative(source, resolve(dirname(path), match[1]))
      .split(sep)
      .join('/')
    if (target.startsWith('..')) continue
    const targetFolder = target.includes('/') ? target.split('/')[0] : ''
    if (targetFolder === folder) continue
    if (compositionFolders.has(targetFolder) || (targetFolder === '' && compositionFiles.has(target)))
      problems.push(`${name}: imports the composition root (${target})`)
    else if ((height.get(targetFolder) ?? -1) > height.get(folder))
      problems.push(`${name}: imports ${target}, which is above it`)
    else if (height.get(targetFolder) === height.get(folder) && !target.endsWith('/index.ts'))
      problems.push(`${name}: imports ${target} past its index.ts`)
  }
}

const sdk = join(root, 'packages', 'sdk', 'src')
for (const path of filesBelow(sdk))
  if (/from '@assay\/node|packages\/node/.test(readFileSync(path, 'utf8')) && !isTest(path))
    problems.push(`${relative(root, path)}: the sdk must not import the node`)

for (const problem of problems) process.stdout.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
