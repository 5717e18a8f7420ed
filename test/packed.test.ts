import { execFile, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readyUrl } from '../bench/process/ready-url.ts'
import { temporaryHome } from '../bench/process/temporary-home.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { endWithParent } from './harness/end-with-parent.ts'
import { installTarballs, link, type Manifest, packAll, readManifest, root } from './harness/unpacked.ts'
import { until } from './harness/until.ts'

const run = promisify(execFile)
const everything = ['protocol', 'till', 'sdk', 'conformance', 'node', 'cli']
let folder: string
/** A project with all packages, and one of a buyer, who has the command and no node. */
let all: string
let buyer: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-packed-'))
  const tarballs = await packAll()
  all = join(folder, 'all')
  buyer = join(folder, 'buyer')
  await installTarballs(all, tarballs, everything)
  const frameworks = ['express', 'hono', '@hono/node-server', 'fastify', 'zod', '@modelcontextprotocol/sdk']
  for (const name of [...frameworks, 'viem', '@types/node']) link(join(all, 'node_modules'), name)
  await installTarballs(buyer, tarballs, ['protocol', 'sdk', 'conformance', 'cli'])
}, 900_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packageFolder = (project: string, name: string) => join(project, 'node_modules', '@assay', name)
const assayIn = (project: string) => join(packageFolder(project, 'cli'), 'dist/main.js')
const assay = (project: string, ...args: string[]) =>
  run(process.execPath, [assayIn(project), ...args], { cwd: project, env: {} })

/** Every name by which a program can import something of a package; patterns are spelled out from the files. */
function entryNames(project: string, name: string): string[] {
  const place = packageFolder(project, name)
  const { name: own, exports = {} } = readManifest(place) as Manifest
  return Object.entries(exports).flatMap(([key, target]) => {
    if (typeof target === 'string') return []
    if (!key.includes('*')) return [`${own}${key.slice(1)}`]
    const [before = '', after = ''] = target.default.replace('./dist/', '').split('*')
    return readdirSync(join(place, 'dist'), { recursive: true })
      .map(String)
      .filter((file) => file.startsWith(before) && file.endsWith(after))
      .map((file) => `${own}${key.slice(1).replace('*', file.slice(before.length, -after.length))}`)
  })
}

test('all packages have one version, which is that of the workspace', () => {
  const { version } = readManifest(root)
  for (const name of everything) {
    expect(readManifest(packageFolder(all, name))).toMatchObject({ version })
    expect(readManifest(join(root, 'packages', name))).toMatchObject({ version })
    for (const file of ['README.md', 'LICENSE', 'NOTICE'])
      expect(existsSync(join(packageFolder(all, name), file)), `${name}: ${file}`).toBe(true)
  }
})

const sellerEntries = ['', '/node', '/hono', '/express', '/fastify', '/next', '/mcp', '/embedded', '/testing']

/** Imports these names one after the other: what could not be, and what the entry points of a seller export. */
async function importAll(names: readonly string[], ...args: string[]) {
  const script = join(all, 'import-all.mjs')
  writeFileSync(
    script,
    `const [failed, exported] = [[], []]
     const sellers = ${JSON.stringify(sellerEntries.map((name) => `@assay/till${name}`))}
     for (const name of ${JSON.stringify(names)})
       await import(name).then(
         (found) => { if (sellers.includes(name)) for (const key of Object.keys(found)) exported.push([name, key]) },
         (error) => failed.push(name + ': ' + error.message),
       )
     const { createTill } = await import('@assay/till')
     const said = await Promise.resolve().then(() => createTill()).catch((error) => error.message)
     console.log(JSON.stringify({ failed, exported, said }))
     process.exit()`,
  )
  const { stdout, stderr } = await run(process.execPath, [...args, script], { cwd: all })
  expect(stderr).toBe('')
  return JSON.parse(stdout) as { failed: string[]; exported: [string, string][]; said: string }
}

test('plain Node imports every entry point; without TCP those of a seller say that they do not run there', async () => {
  const names = everything.flatMap((name) => entryNames(all, name))
  expect(names).toContain('@assay/till/ledger')
  expect(names).toContain('@assay/protocol/money')
  expect(names).toContain('@assay/node/shops/sources')
  const usual = await importAll(names)
  expect(usual.failed).toEqual([])
  expect(usual.said).toContain('database: missing')
  const sellers = sellerEntries.map((name) => `@assay/till${name}`)
  const edge = await importAll(sellers, '--conditions=edge-light')
  expect(edge.said).toContain("export const runtime = 'nodejs'")
  expect(usual.exported.length).toBeGreaterThan(sellers.length)
  for (const row of usual.exported) expect(edge.exported).toContainEqual(row)
})

test('a strict TypeScript project accepts all declarations', async () => {
  const project = join(all, 'consumer')
  mkdirSync(project)
  const names = ['protocol', 'till', 'sdk', 'node'].flatMap((name) => entryNames(all, name))
  writeFileSync(join(project, 'all.ts'), names.map((name, index) => `export * as m${index} from '${name}'\n`).join(''))
  writeFileSync(join(project, 'buyer.ts'), buyerSource)
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', types: ['node'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const errors = await run(tsc, ['-p', project, '--singleThreaded']).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  expect(errors).toBe('')
})

const buyerSource = `
import { callOperation, createAssayClient } from '@assay/sdk'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(\`0x\${'1'.repeat(64)}\`)
const client = createAssayClient({ account, baseUrl: 'https://api.example.org', maxPerCallUsd: '0.05' })
const { data } = await callOperation(client, 'sandbox.echo.get', { query: { message: 'hello' } })
export const echo: string = data.echo
// @ts-expect-error there is no such operation
await callOperation(client, 'sandbox.no_such', {})
// @ts-expect-error a number is no message
await callOperation(client, 'sandbox.echo.get', { query: { message: 1 } })
`

test('the command works without the node, and says how to get it where it is needed', async () => {
  const { version } = readManifest(root)
  expect((await assay(buyer, '--version')).stdout.trim()).toBe(version)
  const healthy = JSON.parse((await assay(buyer, 'doctor', '--json')).stdout) as {
    checks: { name: string; status: string }[]
  }
  expect(healthy.checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'node ok',
    'clock ok',
    'packages skipped',
  ])
  for (const command of [['up'], ['log', 'monitor', 'http://127.0.0.1:9', '--once']]) {
    const ended = await assay(buyer, ...command).catch((error: { code: number; stderr: string }) => error)
    expect(ended, command.join(' ')).toMatchObject({ code: 2 })
    expect(ended.stderr).toContain('npm install @assay/node')
  }
})

test('a node from the tarball sells to the command from the tarball', async () => {
  const home = await temporaryHome('assay-packed-')
  const node = spawn(process.execPath, [...endWithParent, assayIn(all), 'up'], {
    cwd: all,
    env: {
      ...{ PATH: process.env.PATH, ASSAY_HOME: home, PORT: '0', DEVNET_PORTS: '0,0' },
      ...{ MATRIX: '{"demo":"off"}', INTENTS: '{"demo":"off"}' },
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  try {
    const url = await readyUrl(node)
    // The index of what is searched runs in a thread with its own module.
    const body = JSON.stringify({ query: 'rates' })
    const bought = await assay(buyer, 'buy', `${url}/v1/match`, '--demo', '-X', 'POST', '-d', body)
    expect(JSON.parse(bought.stdout)).toHaveProperty('data')
    expect(bought.stderr).toMatch(/signature verified .* receipt verified/)
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const [, script] = /src="([^"]+\.js)"/.exec(page) ?? []
    expect((await fetch(new URL(script as string, url))).status).toBe(200)
  } finally {
    const ended = node.exitCode === null ? new Promise((resolve) => node.once('exit', resolve)) : undefined
    node.kill('SIGTERM')
    await ended
    rmSync(home, { recursive: true, force: true })
  }
}, 600_000)

/** What a stranger does first: copies a program of the guide, runs it, and runs the command that it prints. */
test.each(process.env['ASSAY_PROOFS'] === undefined ? ['Hono'] : ['Hono', 'Express'])(
  'the program of the guide for %s sells, and the command that it prints buys',
  async (name) => {
    const guide = readFileSync(join(root, 'docs/embed.md'), 'utf8')
    const [, source] = new RegExp(`\`\`\`ts\\n(// seller.ts, with ${name}[^]*?)\`\`\``).exec(guide) ?? []
    const port = String(await freePort())
    const { code } = await transform((source ?? '').replaceAll('3001', port), { loader: 'ts', format: 'esm' })
    const file = join(all, `guide-${name}.mjs`)
    writeFileSync(file, code)
    const kept = mkdtempSync(join(tmpdir(), 'assay-guide-'))
    chmodSync(kept, 0o711)
    const env = { ...process.env, TMPDIR: kept }
    let server = 0
    const seller = spawn(process.execPath, [...endWithParent, file], { stdio: ['pipe', 'pipe', 'inherit'], env })
    try {
      const lines: string[] = []
      for await (const line of createInterface({ input: seller.stdout }))
        if (lines.push(line) >= 2 && /^ASSAY_KEY/.test(line)) break
      expect(lines[0]).toBe('[]')
      expect(lines.slice(1, -1).join('')).toMatch(/^200 .*city: 'rome'/)
      const [, key = '', args = ''] = /^ASSAY_KEY=(\S+) npx assay (.*)$/.exec(lines.at(-1) ?? '') ?? []
      const bought = await run(process.execPath, [assayIn(buyer), ...args.split(' ')], {
        cwd: buyer,
        env: { ASSAY_KEY: key },
      })
      expect(JSON.parse(bought.stdout)).toMatchObject({ city: 'oslo' })
      const [till = ''] = readdirSync(kept).filter((one) => one.startsWith('till-'))
      server = Number(readFileSync(join(kept, till, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
    } finally {
      const ended = new Promise((resolve) => seller.once('exit', resolve))
      seller.kill('SIGKILL')
      await ended
    }
    // The embedded database goes with it, however it ends.
    await until('nothing is left', async () => readdirSync(kept).every((one) => !one.startsWith('till-')))
    expect(() => process.kill(server, 0)).toThrow('ESRCH')
    rmSync(kept, { recursive: true })
  },
  120_000,
)
