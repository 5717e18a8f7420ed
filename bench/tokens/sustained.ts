import { type ChildProcess, fork } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createAnswerReader } from '../load/answer-reader.ts'
import { exchange } from '../load/exchange.ts'
import { summarize } from '../percentiles.ts'

const perSecond = 1_000
const seconds = 10
const connections = 32

type Serving = { url: string; addresses: string[] }

/** 1,000 checks a second over 50 tokens, for ten seconds, against one process. */
export async function measureSustained() {
  const server = fork(join(import.meta.dirname, 'serve-checks.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    const { url, addresses } = await serving(server)
    const { host, port } = new URL(url)
    const targets = addresses.map((address) => `GET /v1/check/${address} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    for (const target of targets) await exchange(Number(port), target)
    const before = await cpuMs(server)
    const outcome = await load(Number(port), targets)
    const usedMs = (await cpuMs(server)) - before
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

/** An open loop: requests fall due at the wanted rate, and waiting for a free connection counts as waiting. */
async function load(port: number, targets: readonly string[]) {
  const took: number[] = []
  const failed = { count: 0 }
  const due: { at: number; bytes: string }[] = []
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port)))
  const idle = [...lines]
  const serve = () => {
    while (due.length > 0 && idle.length > 0) {
      const line = idle.pop() as Line
      const { at, bytes } = due.shift() as { at: number; bytes: string }
      line.ask(bytes, (status) => {
        took.push(performance.now() - at)
        if (status !== 200) failed.count += 1
        idle.push(line)
        serve()
      })
    }
  }
  const started = performance.now()
  const wanted = perSecond * seconds
  let sent = 0
  while (took.length < wanted) {
    const passed = Math.floor(((performance.now() - started) / 1000) * perSecond)
    for (; sent < Math.min(wanted, passed); sent += 1)
      due.push({ at: started + (sent / perSecond) * 1000, bytes: targets[sent % targets.length] as string })
    serve()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const elapsed = (performance.now() - started) / 1000
  for (const line of lines) line.close()
  return {
    tokens: targets.length,
    answered_per_second: Math.round((took.length - failed.count) / elapsed),
    failed: failed.count,
    ms: summarize(took),
  }
}

type Line = { ask(bytes: string, onAnswer: (status: number) => void): void; close(): void }

/** One kept connection. The client shares the machine with the server, so it does no more than it must. */
function openLine(port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    let received: (status: number) => void = () => {}
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
      resolve({
        ask: (bytes, onAnswer) => {
          received = onAnswer
          socket.write(bytes)
        },
        close: () => socket.destroy(),
      }),
    )
    socket.on(
      'data',
      createAnswerReader((status) => received(status)),
    )
    socket.once('error', reject)
  })
}
