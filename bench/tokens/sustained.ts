import { type ChildProcess, fork } from 'node:child_process'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { percentiles } from './percentiles.ts'

const perSecond = 1_000
const seconds = 10

type Serving = { url: string; addresses: string[] }

/** 1,000 checks a second over 50 tokens, for ten seconds, against one process. */
export async function measureSustained() {
  const server = fork(join(import.meta.dirname, 'serve-checks.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    const { url, addresses } = await serving(server)
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    for (const address of addresses) await request(agent, `${url}/v1/check/${address}`)
    const before = await cpuMs(server)
    const outcome = await load(agent, url, addresses)
    const usedMs = (await cpuMs(server)) - before
    agent.destroy()
    // What the machine does beside it changes the rate, but hardly what an answer costs.
    return { ...outcome, cpu_ms_per_check: Math.round((usedMs / (perSecond * seconds)) * 1000) / 1000 }
  } finally {
    server.kill('SIGKILL')
  }
}

function serving(server: ChildProcess): Promise<Serving> {
  return new Promise((resolve, reject) => {
    server.once('message', (message) => resolve(message as Serving))
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
}

function cpuMs(server: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    server.once('message', (message) => {
      const { cpu } = message as { cpu: NodeJS.CpuUsage }
      resolve((cpu.user + cpu.system) / 1000)
    })
    server.send('cpu')
  })
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
