import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryHome } from '../bench/process/temporary-home.ts'
import { installTarballs, link, type Manifest, packAll, readManifest, root } from './harness/unpacked.ts'

const run = promisify(execFile)
const everything = ['protocol', 'till', 'sdk', 'conformance', 'node', 'cli']
let folder: string
/** A project with all packages, and one of a buyer, who has the command and no node. */
let all: string
let buyer: string
let node: ChildProcess | undefined
let home: string | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-packed-'))
  const tarballs = await packAll(join(folder, 'tarballs'))
  all = join(folder, 'all')
  buyer = join(folder, 'buyer')
  await installTarballs(all, tarballs, everything)
  await installTarballs(buyer, tarballs, ['protocol', 'sdk', 'conformance', 'cli'])
}, 900_000)
afterAll(async () => {
  if (node && node.exitCode === null)
    await new Promise((resolve) => {
      node?.once('exit', resolve)
      node?.kill('SIGTERM')
    })
  for (const path of [folder, home]) if (path !== undefined) rmSync(path, { recursive: true, force: true })
})

const packageFolder = (project: string, name: string) => join(project, 'node_modules', '@assay', name)
const assay = (project: string, ...args: string[]) =>
  run(process.execPath, [join(packageFolder(project, 'cli'), 'dist/main.js'), ...args], { cwd: project, env: {} })

/** Every name by which a program can import something of a package; patterns are spelled out from the files. */
function entryNames(project: string, name: string): string[] {
  const place = packageFolder(project, name)
  const { name: own, exports = {} } = readManifest(place) as Manifest
  return Object.entries(exports).flatMap(([key, target]) => {
    if (typeof target === 'string') return []
    if (!key.includes('*')) return [`${own}${key.slice(1)}`]
    const files = readdirSync(join(place, 'dist'), { recursive: true }).map(String)
    return files.filter((file) => file.endsWith('.js')).map((file) => `${own}/${file.slice(0, -3)}`)
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

test('plain Node imports every entry point', async () => {
  const names = everything.flatMap((name) => entryNames(all, name))
  expect(names).toContain('@assay/till/ledger')
  expect(names).toContain('@assay/protocol/money')
  const script = join(all, 'import-all.mjs')
  const lines = names.map(
    (name) => `await import('${name}').catch((error) => failed.push('${name}: ' + error.message))`,
  )
  writeFileSync(
    script,
    ['const failed = []', ...lines, 'console.log(JSON.stringify(failed))', 'process.exit()'].join('\n'),
  )
  const { stdout, stderr } = await run(process.execPath, [script], { cwd: all })
  expect(JSON.parse(stdout)).toEqual([])
  expect(stderr).toBe('')
})

test('a strict TypeScript project accepts all declarations', async () => {
  const project = join(all, 'consumer')
  mkdirSync(project)
  for (const name of ['@types/node', 'viem']) link(join(all, 'node_modules'), name)
  const names = ['protocol', 'till', 'sdk', 'node'].flatMap((name) => entryNames(all, name))
  writeFileSync(join(project, 'all.ts'), names.map((name, index) => `export * as m${index} from '${name}'\n`).join(''))
  writeFileSync(join(project, 'buyer.ts'), buyerSource)
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', types: ['node'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const errors = await run(tsc, ['-p', project]).then(
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
  for (const command of [['up'], ['ledger', 'balances'], ['log', 'monitor', 'http://127.0.0.1:9', '--once']]) {
    const ended = await assay(buyer, ...command).catch((error: { code: number; stderr: string }) => error)
    expect(ended, command.join(' ')).toMatchObject({ code: 2 })
    expect(ended.stderr).toContain('npm install @assay/node')
  }
})

test('a node from the tarball sells to the command from the tarball', async () => {
  home = await temporaryHome('assay-packed-')
  node = spawn(process.execPath, [join(packageFolder(all, 'cli'), 'dist/main.js'), 'up'], {
    cwd: all,
    env: { PATH: process.env.PATH, ASSAY_HOME: home, PORT: '0', DEVNET_PORTS: '0,0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await readyUrl(node)
  const bought = await assay(buyer, 'buy', `${url}/v1/sandbox/echo?message=hello`, '--demo')
  expect(JSON.parse(bought.stdout)).toMatchObject({ echo: 'hello' })
  expect(bought.stderr).toMatch(/signature verified .* receipt verified/)
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  const [, script] = /src="([^"]+\.js)"/.exec(page) ?? []
  expect((await fetch(new URL(script as string, url))).status).toBe(200)
  // Its index runs in a thread with a module of its own.
  const found = await assay(buyer, 'match', 'rates', '--url', url, '--demo', '--json')
  expect(JSON.parse(found.stdout)).toHaveProperty('data')
}, 600_000)

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length))
    })
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${said}`)))
  })
}
