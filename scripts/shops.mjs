// npm run shops [-- --only <name>] [--types]: for each shop, the types of a copy without its folder and its line, then the
// tests that do not need it. Shops that are built on it go with it. With --types no tests.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutShops } from './without-shops.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const shopsFolder = join(root, 'packages', 'node', 'src', 'shops') + sep
const shopOf = (file) => (file.startsWith(shopsFolder) ? relative(shopsFolder, file).split(sep)[0] : undefined)
const isTest = (file) => /\.test\.ts$/.test(file)
const isSource = (file) => !/\.(test|fixture)\.ts$/.test(file) && file.startsWith(join(root, 'packages'))
/** What every node has in it: the way from a test to a shop does not lead through it. */
const shopList = join(root, 'packages', 'node', 'src', 'shop-list.ts')

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesBelow(path)
    else if (/\.tsx?$/.test(entry.name)) yield path
  }
}

const files = ['packages', 'test', 'bench'].flatMap((name) => [...filesBelow(join(root, name))])
const importsOf = new Map(
  files.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+|@assay\/node\/shops\/[^']+)'/g)]
      .map(([, specifier]) =>
        specifier.startsWith('@')
          ? join(shopsFolder, specifier.slice('@assay/node/shops/'.length), 'operator.ts')
          : resolve(dirname(file), specifier),
      )
      .filter((target) => existsSync(target)),
  ]),
)

function reachedFrom(file, imports = (one) => importsOf.get(one)) {
  const reached = new Set([file])
  for (const one of reached) if (one !== shopList) for (const target of imports(one) ?? []) reached.add(target)
  return reached
}

/** What a command for a shop is made of: it loads the shop, or is beside a file that does and imports that at its start. */
function commandParts(file) {
  const text = readFileSync(file, 'utf8')
  const called = new Set([...text.matchAll(/import\('(\.[^']+)'\)/g)].map(([, path]) => resolve(dirname(file), path)))
  const isPart = (target) => shopOf(target) !== undefined || dirname(target) === dirname(file)
  return importsOf.get(file)?.filter((target) => isPart(target) && !called.has(target))
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

const copied = [
  'packages',
  'test',
  'bench',
  'conformance',
  'contracts',
  'examples',
  'rehearse',
  'scripts',
  'package.json',
  'tsconfig.json',
]
const isCopied = (path) => !/\/(node_modules|\.assay)$/.test(path)

/** A copy of this repository without these shops: neither their folders nor their lines. */
function copyWithout(out) {
  const copy = mkdtempSync(join(tmpdir(), 'assay-without-'))
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true, filter: isCopied })
  for (const name of out) rmSync(join(copy, relative(root, shopsFolder), name), { recursive: true })
  const list = join(copy, relative(root, shopList))
  writeFileSync(list, withoutShops(readFileSync(list, 'utf8'), [...out]))
  const modules = join(copy, 'node_modules')
  mkdirSync(join(modules, '@assay'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@assay') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join('..', '..', 'packages', name), join(modules, '@assay', name))
    const own = join(root, 'packages', name, 'node_modules')
    if (existsSync(own)) symlinkSync(own, join(copy, 'packages', name, 'node_modules'))
  }
  return copy
}

/** Type-checks all sources without these shops, and the tests that do not need them. The commands for a shop go with it. */
function checkTypes(out) {
  const isOut = (file) => out.has(shopOf(file))
  const isCommandFor = (file) =>
    file.startsWith(join(root, 'packages', 'cli')) && [...reachedFrom(file, commandParts)].some(isOut)
  const roots = files.filter((file) =>
    isSource(file) ? !isOut(file) && !isCommandFor(file) : ![...reachedFrom(file)].some(isOut),
  )
  const copy = copyWithout(out)
  try {
    const config = {
      extends: './tsconfig.json',
      files: roots
        .filter((file) => !file.startsWith(join(root, 'packages', 'web')))
        .map((file) => relative(root, file)),
      include: [],
    }
    writeFileSync(join(copy, 'without.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const { stdout } = spawnSync(tsc, ['-p', 'without.json'], { cwd: copy, encoding: 'utf8', maxBuffer: 64 << 20 })
    const errors = stdout.split('\n').filter((line) => /\): error TS/.test(line))
    const left = errors.filter((line) => !isCommandFor(join(root, line.slice(0, line.indexOf('(')))))
    for (const line of left) process.stdout.write(`${line}\n`)
    process.stdout.write(
      `${config.files.length} files type-checked without ${[...out].join(', ')}: ${left.length} errors\n`,
    )
    return left.length === 0
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const typesOnly = process.argv.includes('--types')
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined
const names = readdirSync(shopsFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && (only === undefined || entry.name === only))
  .map(({ name }) => name)
if (names.length === 0) throw new Error(`no shop is called ${only}`)
const isBench = (file) => file.startsWith(join(root, 'bench') + sep)
const tests = files
  .filter((file) => isTest(file) && !isBench(file))
  .map((file) => ({ file, shops: new Set([...reachedFrom(file)].map(shopOf)) }))

let failed = 0
for (const name of names) {
  const out = removedWith(name)
  if (!checkTypes(out)) {
    failed += 1
    continue
  }
  if (typesOnly) continue
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
