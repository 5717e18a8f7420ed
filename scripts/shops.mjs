// npm run shops [-- --only <name>]: for each shop, the tests that do not need it, with its line and its tables removed.
// Shops that are built on it go with it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const shopsFolder = join(root, 'packages', 'node', 'src', 'shops') + sep
const shopOf = (file) => (file.startsWith(shopsFolder) ? relative(shopsFolder, file).split(sep)[0] : undefined)
const isTest = (file) => /\.test\.ts$/.test(file)
const isSource = (file) => !/\.(test|fixture)\.ts$/.test(file) && file.startsWith(join(root, 'packages'))
/** What every node has in it: the way from a test to a shop does not lead through these. */
const composes = new Set(['shop-list.ts', 'index.ts'].map((name) => join(root, 'packages', 'node', 'src', name)))

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesBelow(path)
    else if (/\.tsx?$/.test(entry.name)) yield path
  }
}

const files = [...filesBelow(join(root, 'packages')), ...filesBelow(join(root, 'test'))]
const importsOf = new Map(
  files.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
      .map(([, specifier]) => resolve(dirname(file), specifier))
      .filter((target) => existsSync(target)),
  ]),
)

function reachedFrom(file) {
  const reached = new Set([file])
  for (const one of reached) if (!composes.has(one)) for (const target of importsOf.get(one) ?? []) reached.add(target)
  return reached
}

/** A shop and those that import it, however indirectly. */
function removedWith(name) {
  const out = new Set([name])
  for (const one of out)
    for (const file of files.filter((file) => isSource(file) && shopOf(file) !== undefined))
      if (importsOf.get(file)?.some((target) => shopOf(target) === one)) out.add(shopOf(file))
  return out
}

/** A whole node with all shops is asked for whatever they sell; one with the till alone is not. */
const startsAllShops = (file) => {
  const text = readFileSync(file, 'utf8')
  return /startNode|openTill|openMesh|openGuarded|runCli|spawn/.test(text) && !text.includes("ownShops: 'till'")
}

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined
const names = readdirSync(shopsFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && (only === undefined || entry.name === only))
  .map(({ name }) => name)
if (names.length === 0) throw new Error(`no shop is called ${only}`)
const tests = files.filter(isTest).map((file) => ({ file, shops: new Set([...reachedFrom(file)].map(shopOf)) }))

let failed = 0
for (const name of names) {
  const out = removedWith(name)
  const rest = tests.filter(({ file, shops }) => ![...out].some((one) => shops.has(one)) && !startsAllShops(file))
  const arguments_ = ['run', '--reporter=dot', ...rest.map(({ file }) => relative(root, file))]
  process.stdout.write(`without ${[...out].join(', ')}: ${rest.length} of ${tests.length} test files\n`)
  const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), arguments_, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ASSAY_WITHOUT_SHOPS: [...out].join(',') },
  })
  if (status !== 0) failed += 1
}
process.stdout.write(`\n${names.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : 0
