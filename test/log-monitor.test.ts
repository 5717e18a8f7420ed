import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { verifyForkEvidence } from '@assay/protocol/log/fork-evidence'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { LogState } from '../packages/node/src/tlog/monitor/index.ts'
import { logKey, memoryLog, serveLog } from '../packages/node/src/tlog/monitor/test-log.fixture.ts'
import { originHash } from '../packages/node/src/tlog/witness-store.ts'
import { attestCitation, createAssayClient, readDemo, readDemoNetworks } from '../packages/sdk/src/index.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { openMesh } from './harness/mesh-nodes.ts'

vi.setConfig({ testTimeout: 150_000 })
const within = { timeout: 60_000, interval: 300 }

const mesh = await openMesh()
const node = await mesh.start({
  ownShops: 'all',
  env: { TLOG: '{"anchor_minutes":0.01,"monitor_seconds":0.5}' },
})
const home = useFolder('log-monitor')
afterAll(() => mesh?.close())

type Watched = LogState & { verdict: string }

async function monitor(...args: string[]) {
  const terminal = createTestTerminal({ env: {} })
  const code = await runCli(['log', 'monitor', ...args, '--once', '--json'], terminal)
  const logs = (terminal.stdout() === '' ? [] : (JSON.parse(terminal.stdout()).logs ?? [])) as Watched[]
  return { code, log: logs[0] as Watched, err: terminal.stderr() }
}

const witnessesOf = async () =>
  (await (await fetch(`${node.node.url}/v1/log`)).json()) as { witnesses: string[]; anchors: { anchored_at: string }[] }

test('a demo node is followed by its address: signature, growth, witnesses, anchors on chain, and a receipt', async () => {
  const url = node.node.url
  const { accounts } = await readDemo(url)
  const account = privateKeyToAccount(accounts.find((one) => one.role === 'buyer')?.privateKey ?? '0x')
  const client = createAssayClient({
    account,
    networks: await readDemoNetworks(url),
    baseUrl: url,
    maxPerCallUsd: '0.01',
  })
  const { demo } = (await (await fetch(url)).json()) as { demo: { sources: { url: string }[] } }
  const bought = await attestCitation(client, url, {
    sourceUrl: demo.sources[0]?.url ?? '',
    agentWallet: account.address,
  })
  const receipts = await mkdtemp(join(home, 'receipts-'))
  await writeFile(join(receipts, 'attestation.json'), JSON.stringify(bought))
  await vi.waitFor(async () => {
    const { anchors } = await witnessesOf()
    expect(anchors.filter(({ anchored_at }) => anchored_at !== null).length).toBeGreaterThan(0)
  }, within)
  const { witnesses } = await witnessesOf()
  const args = [
    url,
    '--state',
    join(home, 'state'),
    '--mirror',
    join(home, 'mirror'),
    '--rpc',
    mesh.base.url ?? '',
    '--receipts',
    receipts,
    '--grace',
    '0',
    ...witnesses.flatMap((key) => ['--witness', key]),
  ]
  // The newest head has its cosignatures a moment later.
  await vi.waitFor(async () => {
    const { code, log, err } = await monitor(...args)
    expect([code, log?.findings, err]).toEqual([0, [], ''])
    expect(log.audited).toBe(log.head?.size)
    expect(log.entries).toBe(log.head?.size)
    expect(Object.keys(log.witnesses).sort()).toEqual([...witnesses].sort())
    expect(log.anchors.seen.length).toBeGreaterThan(0)
    expect(log.anchors.seen.every(({ agrees }) => agrees)).toBe(true)
    expect(log.receipts).toEqual({ checked: 1, missing: [] })
  }, within)
  const promised = { log: { ...bought.log, leaf_hash: Buffer.alloc(32, 9).toString('base64') } }
  await writeFile(join(receipts, 'promised.json'), JSON.stringify(promised))
  const { code, log } = await monitor(...args)
  expect([code, log.verdict, log.findings.map(({ kind }) => kind)]).toEqual([5, 'alarm', ['missing_leaf']])
})

test('a node that shows an anchored size another root is caught by the chain alone', async () => {
  // What is on chain is signed by the real log; what is served here is another history under the same key and name.
  const { code, log } = await monitor(node.node.url, '--state', join(home, 'second'), '--rpc', mesh.base.url ?? '')
  expect(code).toBe(0)
  const [anchor] = log.anchors.seen
  const { rows } = await node.db.database.query<{ private_d: string }>(
    `select private_d from keyring_demo_secret join keyring using (key_id) where purpose = 'log'`,
  )
  const other = memoryLog({ origin: log.origin ?? '', d: rows[0]?.private_d ?? '' })
  other.add(Array.from({ length: (anchor?.size ?? 0) + 3 }, (_, n) => `another entry ${n}`))
  const forged = await serveLog(other)
  try {
    const caught = await monitor(
      `${forged.url}/`,
      '--key',
      log.keys[0] ?? '',
      '--state',
      join(home, 'forged'),
      '--rpc',
      mesh.base.url ?? '',
    )
    expect([caught.code, caught.log.findings[0]?.kind]).toEqual([5, 'fork'])
  } finally {
    await forged.close()
  }
})

test('the demo’s own monitor shows its log at a page that the index links', async () => {
  const { demo } = (await (await fetch(node.node.url)).json()) as { demo: { log_monitor: string } }
  await vi.waitFor(async () => {
    const { logs } = (await (await fetch(demo.log_monitor)).json()) as { logs: Watched[] }
    expect(logs[0]).toMatchObject({ verdict: 'ok', findings: [] })
    expect(Object.keys(logs[0]?.witnesses ?? {})).toHaveLength(2)
    expect(logs[0]?.head?.size).toBeGreaterThan(0)
  }, within)
  const page = await fetch(demo.log_monitor, { headers: { accept: 'text/html' } })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await page.text()).toContain('No problem found')
})

test('the served monitor: a page, JSON, a mirror for another monitor, and evidence that verifies offline', async () => {
  const log = memoryLog()
  log.add(['one', 'two', 'three'])
  const server = await serveLog(log)
  const stopping = new AbortController()
  const terminal = createTestTerminal({ env: {}, interrupted: stopping.signal })
  const running = runCli(
    [
      'log',
      'monitor',
      `${server.url}/`,
      '--key',
      logKey.vkey,
      '--state',
      join(home, 'served'),
      '--mirror',
      join(home, 'copy'),
      '--serve',
      '127.0.0.1:0',
      '--interval',
      '1',
    ],
    terminal,
  )
  try {
    const served = async () => /ready (\S+)/.exec(terminal.stdout())?.[1] ?? Promise.reject(new Error('not ready'))
    const url = await vi.waitFor(served, within)
    await vi.waitFor(async () => {
      const { logs } = (await (await fetch(`${url}/status.json`)).json()) as { logs: Watched[] }
      expect(logs[0]).toMatchObject({ verdict: 'ok', entries: 3 })
    }, within)
    expect(await (await fetch(url)).text()).toContain('log.example/test')
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    const copy = `${url}/${originHash('log.example/test')}`
    const other = await monitor(
      `${server.url}/`,
      '--key',
      logKey.vkey,
      '--compare',
      copy,
      '--state',
      join(home, 'other'),
    )
    expect([other.code, other.log.views[copy]?.verdict]).toEqual([0, 'agrees'])
    // The log forks: the mirror still has the first history.
    const second = memoryLog()
    second.add(['eins', 'zwei', 'drei'])
    server.served.log = second
    server.served.head = () => second.head()
    const late = await monitor(`${server.url}/`, '--key', logKey.vkey, '--compare', copy, '--state', join(home, 'late'))
    expect([late.code, late.log.findings.map(({ kind }) => kind)]).toEqual([5, ['fork']])
    await vi.waitFor(async () => expect(terminal.stdout()).toContain('alarm fork'), within)
    const { logs } = (await (await fetch(`${url}/status.json`)).json()) as { logs: Watched[] }
    const evidence = await (await fetch(`${url}/forks/${logs[0]?.forks[0]}`)).text()
    expect(await verifyForkEvidence(JSON.parse(evidence))).toMatchObject({ proven: true })
    const file = join(home, 'fork.json')
    await writeFile(file, evidence)
    const checked = createTestTerminal({ env: {} })
    expect([await runCli(['verify', file], checked), checked.stdout()]).toEqual([
      0,
      expect.stringContaining('two histories'),
    ])
    await writeFile(file, evidence.replace(/"heads": \[\s*"log/, '"heads": [\n"bog'))
    expect(await runCli(['verify', file], createTestTerminal({ env: {} }))).toBe(5)
    expect(await readFile(file, 'utf8')).toContain('assay-log-fork')
  } finally {
    stopping.abort()
    await running
    await server.close()
  }
})

test('wrong use is refused in words', async () => {
  for (const args of [
    ['ftp://x'],
    ['http://127.0.0.1:1', '--key', 'nonsense'],
    ['http://127.0.0.1:1', '--witness', 'nonsense'],
    ['http://127.0.0.1:1', '--quorum', '1'],
    ['http://127.0.0.1:1', '--interval', 'soon', '--serve', '127.0.0.1:0'],
    ['http://127.0.0.1:1/?x=1'],
  ])
    expect((await monitor(...args, '--state', join(home, 'refused'))).code, args.join(' ')).toBe(2)
  const away = await monitor('http://127.0.0.1:1', '--state', join(home, 'away'))
  expect([away.code, away.log.findings[0]?.kind]).toEqual([1, 'unreachable'])
})
