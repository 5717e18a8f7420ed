import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { nodeOption } from './find-node.ts'
import { helpExamples } from './help-examples.fixture.ts'
import { purposeOf } from './help-text.ts'
import { createProgram } from './program.ts'
import { runCli } from './run-cli.ts'
import { createTestTerminal } from './terminal.fixture.ts'

const program = createProgram({ terminal: createTestTerminal(), endWith: () => {} })

type Leaf = { path: string; options: Set<string>; url: Option | undefined }

/** Also a command with others below it, such as `ingest [files]` and `ingest coverage`. */
const acts = (command: Command) => command.commands.length === 0 || command.registeredArguments.length > 0

function leavesOf(command: Command, path: string[] = []): Leaf[] {
  return command.commands.flatMap((child) => {
    const here = [...path, child.name()]
    const options = new Set(
      child.options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag !== undefined),
    )
    const url = child.options.find(({ long }) => long === '--url')
    const leaf = { path: here.join(' '), options: options as Set<string>, url }
    return [...(acts(child as Command) ? [leaf] : []), ...leavesOf(child as Command, here)]
  })
}

const leaves = leavesOf(program)

const everyCommand = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap((child) => everyCommand(child as Command)),
]

describe('all commands speak alike', () => {
  // They serve until they are stopped, or print what another program reads.
  const withoutResult = new Set(['up', 'mcp', 'witness', 'completion', 'books export'])
  test('every command with a result gives it as JSON', () => {
    const silent = leaves.filter(({ path, options }) => !options.has('--json') && !withoutResult.has(path))
    expect(silent.map(({ path }) => path)).toEqual([])
  })

  // `mcp` pays many times within two maximums, `attack` as often as its attacks need.
  const payMany = new Set(['mcp', 'attack'])
  test('every command that pays accepts a maximum, a dry run and no prompt', () => {
    const paying = leaves.filter(({ path, options }) => options.has('--max-amount') && !payMany.has(path))
    expect(paying.length).toBeGreaterThan(10)
    const wanted = ['--max-amount', '--dry-run', '--yes', '--demo', '--key-file', '--key-env', '--json']
    const missing = paying.map(({ path, options }) => [path, ...wanted.filter((flag) => !options.has(flag))])
    expect(missing.filter((row) => row.length > 1)).toEqual([])
  })

  test('the node is named the same everywhere', () => {
    expect(leaves.filter(({ options }) => options.has('--node')).map(({ path }) => path)).toEqual([])
    const defaults = new Set(
      leaves.flatMap(({ url }) => (url?.defaultValue === undefined ? [] : [`${url.description} ${url.defaultValue}`])),
    )
    expect([...defaults]).toEqual([`${nodeOption[1]} ${nodeOption[2]}`])
  })
})

function rowsOf(command: Command, path: string[] = ['assay']): string[] {
  return command.commands.flatMap((child) => {
    const words = [...path, child.name()]
    const taken = child.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))
    const own = `| \`${[...words, ...taken].join(' ')}\` | ${purposeOf(child as Command)} |`
    return [...(acts(child as Command) ? [own] : []), ...rowsOf(child as Command, words)]
  })
}

describe('help texts', () => {
  test('begin with a verb in the imperative and a capital letter', () => {
    const texts = leaves.map(({ path }) => {
      let at: Command = program
      for (const word of path.split(' ')) at = at.commands.find((child) => child.name() === word) as Command
      return { path, text: purposeOf(at) }
    })
    const wrong = texts.filter(({ text }) => !/^[A-Z][a-z]*[^s\s] /.test(text))
    expect(wrong).toEqual([])
  })

  test.each([60, 80, 120])('fit a terminal of %i columns, and show no default that says nothing', (columns) => {
    const terminal = createTestTerminal({ columns })
    for (const command of everyCommand(createProgram({ terminal, endWith: () => {} }))) command.outputHelp()
    const lines = terminal.stdout().split('\n')
    expect(lines.length).toBeGreaterThan(1_000)
    // A word is not broken: it is an address or a name.
    expect(lines.filter((line) => line.length > columns && / \S+ \S/.test(line.trim()))).toEqual([])
    expect(lines.filter((line) => /default: (?:\[|")/.test(line))).toEqual([])
  })

  test('are the table of docs/command-line.md', () => {
    const document = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8')
    const table = document.split('\n').filter((line) => line.startsWith('| `assay '))
    expect(table).toEqual(rowsOf(program))
  })
})

describe('commands that documents show', () => {
  const root = new URL('../../../', import.meta.url)
  const files = [
    'README.md',
    ...readdirSync(new URL('docs/', root)).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ]
  const shown = files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8')
    const lines = [
      ...text.matchAll(/^\s*(?:npx )?assay ([a-z][^\n]*)$/gm),
      ...text.matchAll(/`(?:npx )?assay ([^`\n]+)`/g),
    ]
    return lines.map(([, rest = '']) => ({ file, rest: rest.replace(/ #.*$/, '') }))
  })

  test('exist, with all their options', () => {
    expect(shown.length).toBeGreaterThan(50)
    const inHelp = helpExamples(program).map((rest) => ({ file: '--help', rest }))
    expect(inHelp.length).toBeGreaterThan(40)
    shown.push(...inHelp)
    const wrong = shown.flatMap(({ file, rest }) => {
      const problem = problemOf(rest)
      return problem === undefined ? [] : [`${file}: assay ${rest}: ${problem}`]
    })
    expect(wrong).toEqual([])
  })

  /** What a reader who types it would see. */
  function problemOf(line: string): string | undefined {
    const words = line.split(/\s+/).filter((word) => word !== '')
    let at: Command = program
    for (const word of words) {
      const next = at.commands.find((child) => child.name() === word)
      if (next === undefined) {
        const isGroup = !acts(at)
        if (isGroup && !/^[-<[….]/.test(word)) return `there is no ${word}`
        break
      }
      at = next as Command
    }
    const known = new Set([
      '--help',
      ...[at, program].flatMap((one) => one.options.flatMap(({ long, short }) => [long, short])),
    ])
    // A pipe or a second command has its own options.
    const own = line.split(/ (?:\||&&|>) /)[0] ?? line
    const unknown = own
      .replace(/"[^"]*"|'[^']*'/g, '')
      .split(/\s+/)
      .filter((word) => /^--?[a-z]/.test(word))
      .map((word) => word.replace(/[=\],.;:].*$/, ''))
      .find((flag) => !known.has(flag))
    return unknown === undefined ? undefined : `no option ${unknown}`
  }
})

test('where nothing listens, a command says how to start a node', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const url = `http://127.0.0.1:${port}`
  for (const args of [
    ['check', `0x${'12'.repeat(20)}`, '--url', url],
    ['loyalty', `0x${'12'.repeat(20)}`, '--url', url],
    ['buy', `${url}/v1/sandbox/echo`, '--demo'],
    ['mesh', 'peers', '--url', url],
    ['mcp', '--url', url],
  ]) {
    const terminal = createTestTerminal()
    expect(await runCli(args, terminal), args.join(' ')).toBe(1)
    expect(terminal.stderr(), args.join(' ')).toContain('npx assay up')
  }
})
