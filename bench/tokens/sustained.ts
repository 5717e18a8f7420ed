import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpEndpoint } from '../../packages/node/src/chain/index.ts'
import type { Devnet } from '../../packages/node/src/devnet/index.ts'
import { createActor } from '../../packages/node/src/tokens/issuer.fixture.ts'
import { percentiles } from './percentiles.ts'

const tokensWanted = 50
const perSecond = 1_000
const seconds = 10

type Demo = { chains: { rpc: string }[]; tokens: { address: string }[] }

/** 1,000 checks a second over 50 tokens, for ten seconds, against one node process. */
export async function measureSustained() {
  const home = await mkdtemp(join(tmpdir(), 'assay-bench-tokens-'))
  const node = startNode(home)
  try {
    const url = await ready(node)
    const index = (await (await fetch(url)).json()) as { demo: Demo }
    const addresses = index.demo.tokens.map(({ address }) => address)
    const chain = httpEndpoint(index.demo.chains[0]?.rpc as string)
    const remote = {
      chainId: 8453,
      request: async (method: string, params: readonly unknown[] = []) => (await chain.send([{ method, params }]))[0],
    }
    const issuer = await createActor(remote as unknown as Devnet)
    while (addresses.length < tokensWanted) addresses.push(await issuer.create(`bench ${addresses.length}`))
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    for (const address of addresses) await request(agent, `${url}/v1/check/${address}`)
    const outcome = await load(agent, url, addresses)
    agent.destroy()
    return outcome
  } finally {
    await stop(node)
    await rm(home, { recursive: true, force: true })
  }
}

async function load(agent: Agent, url: string, addresses: readonly string[]) {
  const took: number[] = []
  let failed = 0
  let open = 0
  const started = performance.now()
  const wanted = perSecond * seconds
  let sent = 0
  while (sent < wanted) {
    const due = Math.min(wanted, Math.floor(((performance.now() - started) / 1000) * perSecond))
    for (; sent < due; sent += 1) {
      const address = addresses[sent % addresses.length]
      const begun = performance.now()
      open += 1
      void request(agent, `${url}/v1/check/${address}`)
        .then((status) => {
          if (status !== 200) failed += 1
          took.push(performance.now() - begun)
        })
        .catch(() => {
          failed += 1
        })
        .finally(() => {
          open -= 1
        })
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const elapsed = (performance.now() - started) / 1000
  return {
    tokens: addresses.length,
    answered_per_second: Math.round((took.length - failed) / elapsed),
    failed,
    ms: percentiles(took),
  }
}

function request(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    }).once('error', reject)
  })
}

function startNode(home: string): ChildProcess {
  const main = join(import.meta.dirname, '..', '..', 'scripts', 'start.mjs')
  return spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', DEVNET_PORTS: '0,0', ASSAY_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function ready(node: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    node.stdout?.on('data', (chunk) => {
      text += String(chunk)
      const url = /^ready (\S+)$/m.exec(text)?.[1]
      if (url) resolve(url)
    })
    node.once('exit', (code) => reject(new Error(`the node ended with ${code}`)))
  })
}

async function stop(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null) return
  const ended = new Promise((resolve) => node.once('exit', resolve))
  node.kill('SIGTERM')
  await ended
}
