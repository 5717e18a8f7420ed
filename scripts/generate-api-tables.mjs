// node scripts/generate-api-tables.mjs [--check]: writes docs/embed-api.md from the types that an embedder meets.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { root } from './install-if-missing.mjs'

const target = 'docs/embed-api.md'
const till = 'packages/till/src'
const sections = [
  ['createTill(options)', `${till}/till-options.ts`, 'TillOptions'],
  ['options.networks', `${till}/till-options.ts`, 'NetworkOption'],
  ['till', `${till}/till.ts`, 'Till'],
  ['till.sell(declaration, ...)', `${till}/selling/declare-sale.ts`, 'SaleDeclaration'],
  ['till.sell(..., handler): the call it gets', `${till}/selling/declare-sale.ts`, 'SaleCall'],
  ['till.sell(..., effect)', `${till}/selling/declare-sale.ts`, 'SaleEffect'],
  ["till.on('sale')", `${till}/till-events.ts`, 'SaleEvent'],
  ['testTill(): the kit', `${till}/testing/test-till.ts`, 'TestTill'],
  ['A buyer of the kit', `${till}/testing/buyer.ts`, 'Buyer'],
  ['createAssayClient(options)', 'packages/sdk/src/client.ts', 'AssayClientOptions'],
]

const isNode = (value) => typeof value === 'object' && value !== null && typeof value.type === 'string'

function* nodesIn(node) {
  yield node
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesIn(child)
}

/** The comment that ends right before a place, without its stars. */
function commentBefore(source, start) {
  const before = source.slice(0, start).trimEnd()
  if (!before.endsWith('*/')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** One row for each member; members of an object written in place get their own rows. */
function rowsOf(source, literal, prefix = '') {
  return literal.members.flatMap((member) => {
    const name = source.slice(member.key.start, member.key.end)
    const optional = member.optional ? '?' : ''
    const annotation = member.typeAnnotation?.typeAnnotation
    const inner = annotation?.type === 'TSTypeLiteral' ? annotation : undefined
    const isMethod = member.type === 'TSMethodSignature'
    const type = isMethod
      ? source.slice(member.key.end, member.end).replace(/^\?/, '')
      : source.slice(annotation.start, annotation.end)
    const shown = inner ? 'object' : type.replace(/\s+/g, ' ').replaceAll('|', '\\|')
    const row = { name: `${prefix}${name}${optional}`, type: shown, what: commentBefore(source, member.start) }
    return [row, ...(inner ? rowsOf(source, inner, `${prefix}${name}.`) : [])]
  })
}

function tableOf([title, file, type], missing) {
  const source = readFileSync(join(root, file), 'utf8')
  const tree = parseAst(source, { lang: 'ts' }, file)
  const alias = [...nodesIn(tree)].find((node) => node.type === 'TSTypeAliasDeclaration' && node.id.name === type)
  if (!alias) throw new Error(`${file} has no type ${type}`)
  const literal = [...nodesIn(alias.typeAnnotation)].find((node) => node.type === 'TSTypeLiteral')
  const rows = rowsOf(source, literal)
  for (const { name, what } of rows) if (what === '') missing.push(`${file}: ${type}.${name}`)
  return [
    `## \`${title}\``,
    '',
    '| name | type | what it is for |',
    '|---|---|---|',
    ...rows.map(({ name, type, what }) => `| \`${name}\` | \`${type}\` | ${what.replaceAll('|', '\\|')} |`),
    '',
  ]
}

const entries = {
  '@assay/till': 'index.ts',
  '@assay/till/node': 'adapters/node.ts',
  '@assay/till/hono': 'adapters/hono.ts',
  '@assay/till/express': 'adapters/express.ts',
  '@assay/till/fastify': 'adapters/fastify.ts',
  '@assay/till/next': 'adapters/next.ts',
  '@assay/till/mcp': 'adapters/mcp.ts',
  '@assay/till/embedded': 'embedded.ts',
  '@assay/till/testing': 'testing/index.ts',
}

const parsed = (file) => {
  const source = readFileSync(join(root, till, file), 'utf8')
  return { source, body: parseAst(source, { lang: 'ts' }, file).body }
}

/** What a module gives at run time, with what its comment says; types are in the tables below. */
function valuesOf(file) {
  const { source, body } = parsed(file)
  return body.flatMap((node) => {
    if (node.type === 'ExportAllDeclaration') return valuesOf(join(dirname(file), node.source.value))
    if (node.type !== 'ExportNamedDeclaration' || node.exportKind === 'type') return []
    if (node.source) {
      const wanted = node.specifiers
        .filter(({ exportKind }) => exportKind !== 'type')
        .map(({ exported }) => exported.name)
      const below = valuesOf(join(dirname(file), node.source.value))
      return wanted.map((name) => below.find((one) => one.name === name) ?? { name, what: '' })
    }
    const declared = node.declaration?.declarations ?? [node.declaration]
    const what = commentBefore(source, node.start)
    return declared.flatMap((one) => (one?.id && !/^TS/.test(one.type) ? [{ name: one.id.name, what }] : []))
  })
}

function entryTable(missing) {
  const rows = Object.entries(entries).flatMap(([entry, file]) =>
    valuesOf(file).map(({ name, what }) => {
      if (what === '') missing.push(`${file}: ${name}`)
      return `| \`${entry}\` | \`${name}\` | ${what.replaceAll('|', '\\|')} |`
    }),
  )
  return ['## Entry points', '', '| import | name | what it is for |', '|---|---|---|', ...rows, '']
}

export function apiTables() {
  const missing = []
  const tables = [...entryTable(missing), ...sections.flatMap((section) => tableOf(section, missing))]
  if (missing.length > 0) throw new Error(`without a comment that says what it is for:\n${missing.join('\n')}`)
  const head = [
    '# What an embedder can set and call',
    '',
    'Generated from the declarations (`node scripts/generate-api-tables.mjs`). How they go together: [embed.md](embed.md).',
    '',
  ]
  return [...head, ...tables].join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const made = apiTables()
  if (!process.argv.includes('--check')) writeFileSync(join(root, target), made)
  else if (readFileSync(join(root, target), 'utf8') !== made) {
    process.stderr.write(`${target} differs from the declarations: run node scripts/generate-api-tables.mjs\n`)
    process.exitCode = 1
  }
}
