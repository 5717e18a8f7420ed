// The direction of imports: a package imports only from packages below it, a folder only from its own files and from
// folders below it, and names the tables of no others. The order of the lists is the architecture; docs/architecture.md
// draws what is imported (--write).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What each package may import, besides its own files. */
const packages = {
  cli: ['conformance', 'sdk', 'node', 'protocol'],
  conformance: ['till', 'sdk', 'protocol'],
  web: ['sdk', 'protocol'],
  node: ['till', 'protocol'],
  sdk: ['protocol'],
  till: ['protocol'],
  protocol: [],
}

/** Top to bottom. Folders that share a line see each other only through index.ts. Shops are between faces and notifications. */
const folders = {
  node: [['compose'], ['config'], ['faces'], ['notifications'], ['shops'], ['http'], ['tlog'], ['outbound']],
  till: [
    ['adapters', 'testing'],
    ['tools'],
    ['documents'],
    ['selling'],
    ['compose'],
    ['devnet'],
    ['recovery'],
    ['refunds'],
    ['gate'],
    ['credit'],
    ['schemes'],
    ['facilitators'],
    ['contract'],
    ['payouts'],
    ['screening'],
    ['transitions'],
    ['ledger'],
    ['proofs'],
    ['signer'],
    ['chain'],
    ['signing'],
    ['jobs'],
    ['store'],
    ['kernel'],
  ],
}

/** Shared by buyer and seller: runs in browsers and edge runtimes, so it uses nothing of Node, and viem alone beside itself. */
const portable = 'protocol'
const notPortable = /\bBuffer\b|\bprocess\.|from '(?!\.|viem['/])/

const slashes = (path) => path.split(sep).join('/')
const isTest = (path) => /\.(test|fixture)\.tsx?$/.test(path) || /(^|\/)testing\.ts$/.test(path)
function* filesBelow(folder, pattern = /\.tsx?$/) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path, pattern)
    else if (pattern.test(entry.name)) yield path
  }
}

/** The longest listed folder that holds the file; files at the top of a package compose it and have none. */
function placeOf(lines, file) {
  const names = lines.flat().filter((name) => file.startsWith(`${name}/`))
  const name = names.sort((a, b) => b.length - a.length)[0]
  return name === undefined ? undefined : { name, line: lines.findIndex((line) => line.includes(name)) }
}

/** The folders of the shops in the order in which they open: each may import those before it. */
function openedShops(source) {
  const [imports, list = ''] = readFileSync(join(source, 'shop-list.ts'), 'utf8').split('= [')
  const found = [...imports.matchAll(/^import \{ (\w+) \} from '\.\/(shops\/\w+)\/index\.ts'/gm)]
  const folderOf = new Map(found.map(([, name, folder]) => [name, folder]))
  return [...list.matchAll(/^ {2}(\w+),$/gm)].flatMap(([, name]) => folderOf.get(name) ?? [])
}

/** The order of the folders of a package. A shop that shop-list.ts does not have is above all others and is reported. */
function orderOf(name, source, problems = []) {
  const shops = join(source, 'shops')
  if (name !== 'node' || !existsSync(shops)) return folders[name]
  const opened = openedShops(source)
  const missing = readdirSync(shops, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !opened.includes(`shops/${entry.name}`))
    .map((entry) => `shops/${entry.name}`)
  for (const shop of missing) problems.push(`packages/node/src/${shop}: shop-list.ts has no line for it`)
  const order = [...opened, ...missing].reverse().map((shop) => [shop])
  return folders.node.toSpliced(
    folders.node.findIndex(([first]) => first === 'notifications'),
    0,
    ...order,
  )
}

const inShops = (...names) =>
  names.every((name) => name.startsWith('shops/')) ? ': in shop-list.ts it opens later, or not at all' : ''

/** So that the code without a shop has its types: nothing else than the list and later shops may import one. */
function checkShop(problems, where, file, target) {
  const shop = /^shops\/\w+\//.exec(target)?.[0]
  if (shop === undefined || file === 'shop-list.ts' || /^shops\/\w+\//.test(file)) return
  problems.push(`${where}: imports ${target}; only shop-list.ts and shops that open later import a shop`)
}

/** A command loads what it needs of a shop while it runs, so that all others work without that shop. */
function checkEntries(problems, where, text) {
  const statement = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'(@assay\/node\/shops\/[^']+)'/gm
  for (const [, specifier] of text.matchAll(statement))
    problems.push(`${where}: imports ${specifier} when it is loaded; use await import() in the command that needs it`)
}

function checkWithin({ problems, draw }, name, lines, file, target) {
  const [from, to] = [placeOf(lines, file), placeOf(lines, target)]
  const where = `packages/${name}/src/${file}`
  if (!from && file.includes('/')) problems.push(`${where}: its folder is not listed in scripts/check-imports.mjs`)
  if (name === 'node') checkShop(problems, where, file, target)
  if (from && to) draw(`${name}/${from.name}`, `${name}/${to.name}`)
  if (!from || from.name === to?.name) return
  if (!to && from.line > 0) problems.push(`${where}: imports ${target}, which composes the package`)
  else if (to && to.line < from.line)
    problems.push(`${where}: imports ${target}, which is above it${inShops(from.name, to.name)}`)
  else if (to && (to.line === from.line || to.name.startsWith('shops/')) && !target.endsWith('/index.ts'))
    problems.push(`${where}: imports ${target} past its index.ts`)
}

function checkPackage(found, name, source) {
  const { problems, draw, orders } = found
  const [lines, allowed] = [orders.get(name), packages[name]]
  for (const path of filesBelow(source)) {
    const file = slashes(relative(source, path))
    if (isTest(file)) continue
    const text = readFileSync(path, 'utf8')
    if (name === portable && notPortable.test(text))
      problems.push(`packages/${name}/src/${file}: ${notPortable.exec(text)?.[0]} does not run everywhere`)
    checkEntries(problems, `packages/${name}/src/${file}`, text)
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+|@assay\/[^']+)'/g)) {
      const other = /^@assay\/([^/]+)/.exec(specifier)?.[1]
      if (other !== undefined) {
        draw(name, other)
        if (!allowed.includes(other)) problems.push(`packages/${name}/src/${file}: imports @assay/${other}`)
        continue
      }
      const target = slashes(relative(source, resolve(dirname(path), specifier)))
      if (target.startsWith('../../../contracts/')) continue
      if (target.startsWith('..')) problems.push(`packages/${name}/src/${file}: leaves its package (${specifier})`)
      else if (lines) checkWithin(found, name, lines, file, target)
    }
  }
}

/** Files that import values of each other in a circle: which of them runs first then decides what is defined. */
function checkCircles(root, sources, problems) {
  const statement = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'(\.[^']+)'/gm
  const imports = new Map()
  for (const path of sources.flatMap(([, source]) => [...filesBelow(source)])) {
    const found = [...readFileSync(path, 'utf8').matchAll(statement)]
    imports.set(
      path,
      found.map(([, specifier]) => resolve(dirname(path), specifier)),
    )
  }
  const done = new Set()
  const visit = (path, way) => {
    const at = way.indexOf(path)
    if (at >= 0) {
      const circle = [...way.slice(at), path].map((one) => slashes(relative(root, one)))
      problems.push(`files import values in a circle: ${circle.join(' -> ')}`)
    }
    if (at >= 0 || done.has(path)) return
    for (const to of imports.get(path) ?? []) visit(to, [...way, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
}

const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\/|(^|\s)(\/\/|-- ).*$/gm, '$1')

/** Each table belongs to the folder whose migrations make it. The names of functions end in `(`. */
function tableOwners(sources) {
  const owners = new Map()
  for (const [name, source] of sources)
    for (const path of filesBelow(source, /\.sql$/)) {
      const made = /\bcreate (?:or replace )?(?:unlogged )?(table|view|sequence|function) (\w+)/g
      const folder = slashes(relative(source, dirname(dirname(path))))
      for (const [, kind, table] of withoutComments(readFileSync(path, 'utf8')).matchAll(made))
        owners.set(kind === 'function' ? `${table}(` : table, { name, folder })
    }
  return owners
}

/** Words of two parts name a table wherever they are, the others only where a statement names one. */
const tableNames =
  /\b(?:(?:from|join|into|update|table|only|using|references)\s+([a-z]\w*)|[a-z]+(?:_[a-z0-9]+)+)\b(\s*\()?/g

function tablesIn(text, owners) {
  const found = [...text.matchAll(tableNames)].map(([word, named, call]) => {
    const table = named ?? word.replace(/\s*\($/, '')
    return call !== undefined && owners.has(`${table}(`) ? `${table}(` : table
  })
  return [...new Set(found)].filter((table) => owners.has(table))
}

/** Why a file of this package and place may not name a table of that owner; undefined if it may. */
function refusedTable({ arrows, orders }, name, from, owner) {
  const to = placeOf(orders.get(owner.name) ?? [], `${owner.folder}/`)
  if (to === undefined) return 'whose folder is not listed'
  const isShop = to.name.startsWith('shops/')
  if (owner.name !== name && !isBelow(owner.name, name)) return 'which is above it'
  if (owner.name !== name || from === undefined) return isShop ? 'a shop that it may not import' : undefined
  if (to.line < from.line) return `which is above it${inShops(from.name, to.name)}`
  const imports = from.name === to.name || arrows.get(`${name}/${from.name}`)?.has(`${name}/${to.name}`)
  return isShop && !imports ? 'a shop that it does not import' : undefined
}

const isBelow = (other, name) => packages[name].some((one) => one === other || isBelow(other, one))
const hasDatabase = ([name]) => name === 'till' || isBelow('till', name)

/** A table is named by its owner and what is above it, that of a shop only by later shops that import it as well. */
function checkTables(found, sources) {
  const owners = tableOwners(sources)
  for (const [name, source] of sources)
    for (const path of filesBelow(source, /\.(tsx?|sql)$/)) {
      const file = slashes(relative(source, path))
      if (isTest(file)) continue
      const from = found.orders.get(name) && placeOf(found.orders.get(name), file)
      for (const table of tablesIn(withoutComments(readFileSync(path, 'utf8')), owners)) {
        const owner = owners.get(table)
        const why = refusedTable(found, name, from, owner)
        if (why)
          found.problems.push(`packages/${name}/src/${file}: names ${table} of ${owner.name}/${owner.folder}, ${why}`)
      }
    }
}

/** What is wrong with the imports below a root, and who imports whom: `package` or `package/folder`. */
export function checkImports(root) {
  const problems = []
  const arrows = new Map()
  const draw = (from, to) => {
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to))
  }
  const sources = Object.keys(packages)
    .map((name) => [name, join(root, 'packages', name, 'src')])
    .filter(([, source]) => existsSync(source))
  const orders = new Map(sources.map(([name, source]) => [name, orderOf(name, source, problems)]))
  for (const [name, source] of sources) checkPackage({ problems, draw, orders }, name, source)
  checkTables({ problems, arrows, orders }, sources.filter(hasDatabase))
  for (const from of arrows.keys())
    if (below(arrows, from).has(from)) problems.push(`${from}: imports itself in a circle`)
  checkCircles(root, sources, problems)
  return { problems, arrows }
}

/** Everything that can be reached from here, in any number of steps. */
function below(arrows, from, seen = new Set()) {
  for (const to of arrows.get(from) ?? [])
    if (!seen.has(to)) {
      seen.add(to)
      below(arrows, to, seen)
    }
  return seen
}

/** An arrow that a longer way shows already is left out, as far as the way stays in the drawing. */
function drawing(arrows, names) {
  const inside = (name) => names.includes(name)
  const shown = names.flatMap((from) => {
    const targets = [...(arrows.get(from) ?? [])].filter(inside)
    const direct = targets.filter((to) => !targets.some((other) => other !== to && below(arrows, other).has(to)))
    return direct.sort().map((to) => [from, to])
  })
  const id = (name) => name.replace(/[^a-z0-9]/g, '_')
  const label = (name) => name.replace(/^(node|till)\/(shops\/)?/, '')
  return [
    '```mermaid',
    'flowchart TD',
    ...names.map((name) => `  ${id(name)}["${label(name)}"]`),
    ...shown.map(([from, to]) => `  ${id(from)} --> ${id(to)}`),
    '```',
  ].join('\n')
}

function withDrawings(root, arrows, written) {
  const within = (name) =>
    drawing(
      arrows,
      orderOf(name, join(root, 'packages', name, 'src'))
        .flat()
        .map((folder) => `${name}/${folder}`),
    )
  const drawings = { packages: drawing(arrows, Object.keys(packages)), node: within('node'), till: within('till') }
  return Object.entries(drawings).reduce(
    (text, [name, picture]) =>
      text.replace(
        new RegExp(`(<!-- drawing: ${name} -->\n)[^]*?(\n<!-- end -->)`),
        (_, start, end) => `${start}${picture}${end}`,
      ),
    written,
  )
}

function main() {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..')
  const { problems, arrows } = checkImports(root)
  const page = join(root, 'docs', 'architecture.md')
  const written = readFileSync(page, 'utf8')
  const drawn = withDrawings(root, arrows, written)
  if (process.argv.includes('--write')) writeFileSync(page, drawn)
  else if (drawn !== written) problems.push('docs/architecture.md: out of date; npm run imports -- --write redraws it')
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
