// npx tsx bench/intents/main.ts [--quick]: many open streams on one process; exit code 1 when a figure is missed.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { handOut } from '../hand-out.ts'
import { type Child, startChild } from '../process/child.ts'

const quick = process.argv.includes('--quick')
const streams = quick ? 1_000 : 10_000
const slow = streams / 10
const seconds = quick ? 5 : 20
const everyMs = 500
const backlog = 300
const required = { memory_mb: 1_024, p99_ms: 500, lost: 0 }

type Result = { arrivals: [number, number][]; delaysMs: number[]; cut: number; opened: number }

const home = await mkdtemp(join(tmpdir(), 'assay-bench-intents-'))
await chmod(home, 0o711)
const say = (text: string) => process.stderr.write(`${text}\n`)
const children: Child[] = []
try {
  const server = await startChild('intents/server.ts', { ASSAY_HOME: join(home, 'node') })
  children.push(server)
  const clients = await Promise.all([startChild('intents/readers.ts'), startChild('intents/readers.ts')])
  children.push(...clients)
  const { url, token } = await server.ask<{ url: string; token: string }>('address')
  await server.ask('publish', backlog)
  say(`opening ${streams} streams ...`)
  const openingAt = performance.now()
  const atRest = await server.ask<{ cpuMicros: number }>('usage')
  const share = { url, token, healthy: (streams - slow) / clients.length, slow: slow / clients.length }
  const opened = await Promise.all(clients.map((client) => client.ask<{ opened: number }>('open', share)))
  const openSeconds = (performance.now() - openingAt) / 1000
  await Promise.all(clients.map((client) => client.ask('measure')))
  await sleep(1_000)
  say(`${everyMs / 1000} s apart for ${seconds} s ...`)
  const before = await server.ask<{ cpuMicros: number }>('usage')
  const sent: number[] = []
  const startedAt = performance.now()
  for (let at = 0; at < (seconds * 1000) / everyMs; at += 1) {
    await sleep(Math.max(0, startedAt + at * everyMs - performance.now()))
    sent.push(await server.ask<number>('publish', 1))
  }
  await sleep(3_000)
  const usage = await server.ask<{ memoryMax: number; cpuMicros: number }>('usage')
  const results = await Promise.all(clients.map((client) => client.ask<Result>('result')))
  const healthy = streams - slow
  const lost = sent.reduce((sum, seq) => {
    const seen = results.reduce((all, { arrivals }) => all + (new Map(arrivals).get(seq) ?? 0), 0)
    return sum + (healthy - seen)
  }, 0)
  const delays = results.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b)
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0
  const figures = {
    streams: { opened: opened.reduce((sum, one) => sum + one.opened, 0), asked: streams, slow_readers: slow },
    open_seconds: Math.round(openSeconds * 10) / 10,
    server_cpu_ms_per_open: Math.round((before.cpuMicros - atRest.cpuMicros) / 100 / streams) / 10,
    events: sent.length,
    lost_for_healthy_readers: { measured: lost, required: required.lost },
    delivery_ms: { p50: at(0.5), p99: at(0.99), max: at(1), required_p99: required.p99_ms },
    memory_mb: { measured: Math.round(usage.memoryMax / 1_048_576), required: required.memory_mb },
    cut_readers: results.reduce((sum, { cut }) => sum + cut, 0),
    server_cpu_ms_per_event: Math.round((usage.cpuMicros - before.cpuMicros) / 1000 / sent.length),
  }
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  handOut(
    {
      figure: `${streams} open streams, a tenth slow: lost for healthy readers`,
      asked: '0',
      measured: String(lost),
      reached: lost === 0 && figures.streams.opened === streams,
    },
    {
      figure: 'the same, delivery p99',
      asked: `${required.p99_ms} ms`,
      measured: `${figures.delivery_ms.p99} ms`,
      reached: figures.delivery_ms.p99 < required.p99_ms,
    },
    {
      figure: 'the same, memory',
      asked: `${required.memory_mb} MB`,
      measured: `${figures.memory_mb.measured} MB`,
      reached: figures.memory_mb.measured <= required.memory_mb,
    },
  )
  const reached =
    figures.streams.opened === streams &&
    lost === 0 &&
    figures.delivery_ms.p99 < required.p99_ms &&
    figures.memory_mb.measured <= required.memory_mb
  process.exitCode = reached ? 0 : 1
} finally {
  await Promise.all(children.map((child) => child.stop().catch(() => {})))
  await rm(home, { recursive: true, force: true })
}
