import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test, vi } from 'vitest'
import { helpExamples } from '../packages/cli/src/help-examples.fixture.ts'
import { createProgram } from '../packages/cli/src/program.ts'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { hasChecksum } from '../packages/protocol/src/address.ts'
import { createAssayClient, readDemo, signRequest } from '../packages/sdk/src/index.ts'
import { joinProgram } from '../packages/till/src/kernel/join-program.fixture.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { type Language, languages, snippetOf } from '../packages/web/src/reference/snippets.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ env: { MATRIX: '{"demo":"small"}', INTENTS: '{"demo_calls_per_second":0.05}' } })
const folder = useFolder('examples')
const root = join(import.meta.dirname, '..')

type Operation = {
  operationId: string
  parameters?: { name?: string; in?: string; example?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  security: Record<string, unknown>[]
  servers?: { url: string }[]
  'x-payment-info'?: unknown
}
type Index = { demo: { tokens: { address: string }[]; chains: { rpc: string }[] } }

let demo: Index['demo']
beforeAll(async () => {
  demo = ((await (await fetch(till.node.url)).json()) as Index).demo
  // The feeds are made beside the start.
  const isMade = async () => expect((await fetch(`${till.node.url}/matrix/squeeze/delayed`)).status).toBe(200)
  await vi.waitFor(isMade, { timeout: 60_000, interval: 200 })
}, 120_000)

/** They name something that only the caller has: a payment, a mandate, an offer, a domain, a role. */
const ownThings: Record<string, number> = {
  'agents.capabilities.declare': 403,
  'agents.capabilities.revoke': 403,
  'agents.deactivate': 403,
  'agents.declarations.give': 401,
  'attestations.show': 404,
  'auth.session': 401,
  'auth.whoami': 401,
  'creators.epoch': 404,
  'creators.move': 409,
  'credit.bond': 422,
  'credit.bond.release': 404,
  'credit.refund': 422,
  'invoices.issue': 404,
  'invoices.show': 401,
  'mandates.create': 401,
  'mandates.revoke': 404,
  'market.intents.events': 401,
  'market.intents.file': 401,
  'market.intents.files': 401,
  'market.intents.series': 401,
  'market.intents.ticket': 401,
  'matrix.screens.remove': 404,
  'matrix.vip.bulk': 404,
  'mesh.announce': 401,
  'mesh.evidence.give': 404,
  'notifications.remove': 404,
  'notifications.verify': 404,
  'notifications.watches.add': 404,
  'operator.dispute': 403,
  'operator.overview': 403,
  'operator.pause': 403,
  'operator.payments': 403,
  'operator.revenue': 403,
  'operator.withdraw': 403,
  'options.bid': 404,
  'options.buy': 402,
  'options.close': 409,
  'options.days': 404,
  'options.order': 402,
  'options.quote': 404,
  'options.series.show': 404,
  'options.settlements.show': 404,
  'options.withdraw': 404,
  'options.write': 402,
  'payments.dispute': 404,
  'payments.dispute.show': 404,
  'payments.status': 404,
  'rewards.redeem': 410,
  'royalties.remit': 404,
  'royalties.show': 404,
  'sources.terms.rsl': 404,
  'sources.terms.set': 409,
  'sources.wallet': 409,
  'subscriptions.list': 401,
  'subscriptions.renewal': 404,
  'subscriptions.status': 401,
  'subscriptions.upgrade': 409,
  'tokens.diff': 404,
}

/** Names of the members whose address has no checksum. What others signed stays as they signed it: mesh evidence. */
function lowerCaseAddresses(value: unknown, name = ''): string[] {
  if (typeof value === 'string')
    return /^0x[0-9a-fA-F]{40}$/.test(value) && !hasChecksum(value) && name !== 'reporter' ? [name] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => lowerCaseAddresses(below, Array.isArray(value) ? name : key))
}

function requestOf(path: string, method: string, operation: Operation): [url: string, init: RequestInit] {
  const given = operation.parameters ?? []
  const query = new URLSearchParams()
  let target = path
  for (const { name = '', in: place, example } of given) {
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(String(example)))
    if (place === 'query' && example !== undefined) query.set(name, example)
  }
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const origin = operation.servers?.[0]?.url ?? till.node.url
  return [
    `${origin}${target}${query.size === 0 ? '' : `?${query}`}`,
    {
      method: method.toUpperCase(),
      headers: { accept: 'application/json, */*;q=0.5', ...(type === undefined ? {} : { 'content-type': type }) },
      ...(content === undefined ? {} : { body: JSON.stringify(content.example) }),
    },
  ]
}

test('every example of OpenAPI is accepted, and answers where it needs nothing of the caller’s own', async () => {
  const { paths } = (await (await fetch(`${till.node.url}/openapi/full.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const { accounts, networks } = await readDemo(till.node.url)
  const key = accounts.find(({ role }) => role === 'buyer')?.privateKey
  if (key === undefined) throw new Error('no demo buyer')
  const account = privateKeyToAccount(key)
  const client = createAssayClient({ account, networks, maxPerCallUsd: '6000' })
  const send = async (url: string, init: RequestInit, operation: Operation): Promise<Response> => {
    if (operation['x-payment-info']) return (await client.fetch(url, init)).response
    if (operation.security.some((one) => 'erc8128' in one)) return fetch(await signRequest(url, init, { account }))
    return fetch(url, init)
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  expect(operations.length).toBeGreaterThan(100)
  // Every list pages alike, except where another interface or a replay defines the page.
  const ownPages = new Set(['mesh.listing', 'options.inputs'])
  const unlike = operations.filter(({ operation: { operationId, parameters = [] } }) => {
    const names = parameters.map(({ name }) => name)
    return names.includes('cursor') && !names.includes('limit') && !ownPages.has(operationId)
  })
  expect(unlike.map(({ operation }) => operation.operationId)).toEqual([])
  const surprising: string[] = []
  const lowerCase = new Set(lowerCaseAddresses(paths))
  for (const { path, method, operation } of operations) {
    const [url, init] = requestOf(path, method, operation)
    const expected = ownThings[operation.operationId]
    const fits = (status: number | string) => status === expected || (typeof status === 'number' && status < 300)
    const ask = () =>
      send(url, init, operation).then(
        async (response) => {
          const isJson = response.headers.get('content-type') === 'application/json'
          if (!isJson) await response.body?.cancel()
          else
            for (const name of lowerCaseAddresses(await response.json()))
              lowerCase.add(`${operation.operationId}: ${name}`)
          return response.status
        },
        (error: { details?: { status?: number } }) => error.details?.status ?? String(error),
      )
    let status: number | string = ''
    // On a busy machine a young node may still be making what it sells.
    const answered = async () => {
      status = await ask()
      return fits(status)
    }
    await until('it is answered', answered, { withinMs: 20_000 }).catch(() => {})
    if (!fits(status)) surprising.push(`${operation.operationId}: ${status} for ${method} ${url}`)
  }
  expect(surprising).toEqual([])
  expect([...lowerCase]).toEqual([])
}, 240_000)

test('every example of llms.txt leads somewhere', async () => {
  const text = await (await fetch(`${till.node.url}/llms.txt`)).text()
  const urls = [...text.matchAll(/^- \[GET [^\]]*\].*\((free|[^)]*USD[^)]*)\).* Example: (\S+)$/gm)]
  expect(urls.length).toBeGreaterThan(40)
  const wrong: string[] = []
  for (const [, , url = ''] of urls) {
    const answer = await fetch(url)
    await answer.body?.cancel()
    // Those that name something of the caller's own are counted above.
    if (![200, 402, 401, 403, 404].includes(answer.status)) wrong.push(`${answer.status} ${url}`)
  }
  expect(wrong).toEqual([])
}, 60_000)

async function newestBlock(rpc: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const answer = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return Number(((await answer.json()) as { result: string }).result)
}

/** The series for sale that ends last, as those of a demo live for minutes. Empty if there is none yet. */
async function lastingSeries(): Promise<string> {
  const answer = await fetch(`${till.node.url}/v1/options/series?buyable=true&limit=100`)
  const { data } = (await answer.json()) as { data: { symbol: string; expires_at: string }[] }
  return data.sort((one, other) => other.expires_at.localeCompare(one.expires_at))[0]?.symbol ?? ''
}

/** They wait for something outside this machine, serve until they are stopped, or change the node for good. */
const notRun = [
  /^(up|mcp|witness|signer|attack|archive|backup|erase|access|payees|pause|resume|prove|alert|notifications|mesh join)\b/,
  // Of the caller's own, or older than a young demo node.
  /^(mesh buy|matrix squeeze --(bulk|screen|token)|source terms)\b/,
  /^(log (monitor .*--mirror|repair)|creators|ingest|completion|verify proof|stream (--demo|--token))/,
]

test('every example in --help that a buyer would try runs as written', async () => {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  const words: Record<string, string> = {
    TOKEN: demo.tokens[0]?.address ?? '',
    WALLET: privateKeyToAccount(`0x${'7'.repeat(64)}`).address,
    RPC: demo.chains[0]?.rpc ?? '',
    // The node may not have read the newest one yet.
    BLOCK: String((await newestBlock(demo.chains[0]?.rpc ?? '')) - 5),
  }
  await writeFile(join(folder, 'holdings.txt'), `${words['TOKEN']}\n`)
  const files = /\b(answer|report|citation)\.json|holdings\.txt|squeeze\.parquet/g
  const examples = helpExamples(createProgram({ terminal: createTestTerminal(), endWith: () => {} }))
    .flatMap((line) => line.split(' && assay '))
    .filter((line) => !notRun.some((pattern) => pattern.test(line)))
    // What verifies a file comes after what writes it.
    .sort((a, b) => Number(a.startsWith('verify')) - Number(b.startsWith('verify')))
  expect(examples.length).toBeGreaterThan(20)
  const failed: string[] = []
  for (const line of examples) {
    const symbol = line.includes('$SYMBOL') ? await lastingSeries() : 'none'
    if (symbol === '') continue
    const text = line
      .replaceAll('$SYMBOL', symbol)
      .replace(/\$([A-Z_]+)/g, (_all, name: string) => words[name] ?? `$${name}`)
      .replaceAll('http://127.0.0.1:4020', till.node.url)
      .replace(files, (name) => join(folder, name))
    const args = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
    const terminal = createTestTerminal({ env: { ASSAY_URL: till.node.url } })
    const code = await runCli(args, terminal)
    if (code !== 0) failed.push(`${line} -> ${code}: ${terminal.stderr().trim().split('\n').slice(-2).join(' ')}`)
  }
  cwd.mockRestore()
  expect(failed).toEqual([])
}, 240_000)

/** `npx assay` without npm, whose own start takes longer than the command. */
async function pathWithNpx(): Promise<string> {
  const bin = join(root, 'packages/cli/bin/assay.mjs')
  await writeFile(join(folder, 'npx'), `#!/bin/sh\n[ "$1" = assay ] && shift && exec node "${bin}" "$@"\n`, {
    mode: 0o755,
  })
  return `${folder}:${process.env['PATH']}`
}

const run = async (command: string, args: readonly string[], input: string) => {
  const env = { ...process.env, PATH: await pathWithNpx() }
  return new Promise<{ code: number | null; out: string }>((resolve) => {
    const child = spawn(command, args, { cwd: process.cwd(), env, stdio: ['pipe', 'pipe', 'pipe'] })
    const out: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => out.push(String(chunk)))
    child.on('close', (code) => resolve({ code, out: out.join('') }))
    child.stdin.end(input)
  })
}

const runners: Record<Exclude<Language, 'javascript'>, [string, string[]]> = {
  curl: ['bash', []],
  cli: ['bash', []],
  python: ['python3', ['-']],
}

/** Joined with the SDK that it names: compiling that one by one takes longer than the purchase. */
async function pasted(code: string): Promise<[string, string[]]> {
  const file = join(root, 'node_modules', '.cache', 'pasted.mjs')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, code)
  return ['node', [await joinProgram(file)]]
}

test('the code that the reference shows runs when it is pasted', async () => {
  const request = { method: 'GET', url: `${till.node.url}/v1/sandbox/echo?message=it's%20pasted`, headers: {} }
  for (const language of Object.keys(languages) as Language[]) {
    const snippet = snippetOf(language, request, { paid: true, demo: true })
    const [command, args] = language === 'javascript' ? await pasted(snippet) : runners[language]
    const { code, out } = await run(command, args, snippet)
    expect(code, `${language}: ${out}`).toBe(0)
    expect(out, language).toContain(language === 'curl' ? 'payment_required' : "it's pasted")
  }
}, 120_000)

test('the example agent checks a token, cites a source and is stopped by its mandate', async () => {
  const { code, out } = await run('node', [await joinProgram(join(root, 'examples/agent/main.ts')), till.node.url], '')
  expect(code, out).toBe(0)
  expect(out).toMatch(/cited: http.*\/v1\/attestations\/att_/)
  expect(out).toContain('refused: ')
}, 120_000)
