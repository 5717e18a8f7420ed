import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { runLoad } from '../load/run-load.ts'
import { summarize } from '../percentiles.ts'
import { createColdReader } from './cold-reader.ts'

type Serving = { url: string; dids: string[] }

const loadSeconds = 5
const rounds = 3
const connections = 16
const coldReads = 15_000
/** Cold is what was never asked for, not a process that has just started. */
const warmUp = 5_000

/** Resolving from what a process keeps, and resolving what it has never been asked. */
export async function measureResolve(serverUrl: string) {
  const server = fork(join(import.meta.dirname, 'serve.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production', ASSAY_TEST_DATABASE_URL: serverUrl },
  })
  try {
    const { url, dids } = await new Promise<Serving>((resolve, reject) => {
      server.once('message', (message) => resolve(message as Serving))
      server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
    const { host, port } = new URL(url)
    const before = await cpuMs(server)
    const cold = await measureCold(Number(port), host, dids)
    const coldCpuUs = Math.round((((await cpuMs(server)) - before) * 1000) / coldReads)
    const warm = await measureWarm(server, Number(port), host, dids)
    // What the machine does beside it changes the times, but hardly what an answer costs.
    return { cold: { ...cold, cpu_us_each: coldCpuUs }, warm }
  } finally {
    server.kill('SIGKILL')
  }
}

const requestFor = (host: string, did: string) =>
  Buffer.from(`GET /1.0/identifiers/${did} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/did-resolution\r\n\r\n`)

/** The best of a few rounds: the machine is shared, and what it does beside says nothing about us. */
async function measureWarm(server: ChildProcess, port: number, host: string, dids: readonly string[]) {
  const requests = dids.slice(0, 100).map((did) => requestFor(host, did))
  const found = []
  await runLoad({ port, connections, secondsMax: 2 }, endless(requests))
  for (let round = 0; round < rounds; round += 1) {
    const before = await cpuMs(server)
    const outcome = await runLoad({ port, connections, secondsMax: loadSeconds }, endless(requests))
    const usedMs = (await cpuMs(server)) - before
    found.push({
      per_second: Math.round(outcome.requests / outcome.seconds),
      cpu_us_each: Math.round((usedMs * 1000) / outcome.requests),
      statuses: outcome.statuses,
    })
  }
  return found.sort((one, other) => other.per_second - one.per_second)[0] as (typeof found)[number]
}

function endless(requests: readonly Buffer[]): () => Buffer | undefined {
  let sent = 0
  return () => {
    sent += 1
    return requests[sent % requests.length]
  }
}

/** One after the other, each DID for the first time: half of them known wallets, half never seen. */
async function measureCold(port: number, host: string, dids: readonly string[]) {
  const reader = await createColdReader(port)
  const strangers = Array.from(
    { length: coldReads },
    (_, index) => `did:x402:0x${(index + 1).toString(16).padStart(40, 'a')}`,
  )
  for (const did of strangers.slice(0, warmUp)) await reader.read(requestFor(host, did))
  const took: number[] = []
  for (let index = warmUp; index < coldReads; index += 1) {
    const known = index % 2 === 0 ? dids[200 + ((index / 2) % 300)] : undefined
    const did = known === undefined ? (strangers[index] as string) : onChain(known, index)
    took.push(await reader.read(requestFor(host, did)))
  }
  reader.close()
  return summarize(took)
}

/** The same wallet under a name that was not asked for yet: its account on some chain. */
const onChain = (did: string, chainId: number) => `did:pkh:eip155:${chainId}:${did.slice(-42)}`

function cpuMs(server: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    server.once('message', (message) => {
      const { cpu } = message as { cpu: NodeJS.CpuUsage }
      resolve((cpu.user + cpu.system) / 1000)
    })
    server.send('cpu')
  })
}
