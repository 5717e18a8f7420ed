// npx tsx bench/intents/main.ts [--quick] [--streams 10000] [--minutes 60]: many open streams on one process; exit code 1
// when a figure is missed, with --promise only when something was lost, unpaid or grew. From a few minutes on it also
// checks whether memory stays flat.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { growthPerHour, type Sample } from '../load/memory.ts'
import { type Child, startChild } from '../process/child.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { reportFigures } from '../report-figures.ts'

const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}

const quick = process.argv.includes('--quick')
const onlyPromise = process.argv.includes('--promise')
const minutes = option('minutes', 0)
const streams = option('streams', quick ? 1_000 : 10_000)
const slow = Math.floor(streams / 10)
const seconds = minutes > 0 ? minutes * 60 : quick ? 5 : 20
const everyMs = minutes > 0 ? 1_000 : 500
const backlog = 300
const required = { memory_mb: 1_024, p99_ms: 500, lost: 0, gained_mb: 64 }
const sampleEveryMs = 2_000

type Result = { arrivals: [number, number][]; delays: [ms: number, count: number][]; cut: number; opened: number }
type Usage = { memoryMax: number; cpuMicros: number; rss: number; heap: number }

const home = await temporaryHome('assay-bench-intents-')
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
  const samples: Sample[] = []
  for (let at = 0; at < (seconds * 1000) / everyMs; at += 1) {
    await sleep(Math.max(0, startedAt + at * everyMs - performance.now()))
    sent.push(await server.ask<number>('publish', 1))
    if ((at * everyMs) % sampleEveryMs === 0) {
      const { rss, heap } = await server.ask<Usage>('usage')
      samples.push({ atMs: performance.now(), rss, heap })
    }
    if (minutes > 0 && (at * everyMs) % 60_000 === 0 && at > 0)
      say(`  ${(at * everyMs) / 60_000} min, ${Math.round((samples.at(-1)?.rss ?? 0) / 1_048_576)} MB`)
  }
  await sleep(3_000)
  const unpaid = await statusWithout(url)
  const usage = await server.ask<Usage>('usage')
  const { results, lost } = await untilArrived(clients, sent)
  const at = percentiles(results.flatMap(({ delays }) => delays))
  // Growth of an hour, but a short run cannot say so much: what is checked is what was gained within the second half.
  const gainedMb = Math.round((growthPerHour(samples, 'rss') * (seconds / 2)) / 3_600 / 1_048_576)
  const flat = minutes < 2 || gainedMb < required.gained_mb
  const figures = {
    streams: { opened: opened.reduce((sum, one) => sum + one.opened, 0), asked: streams, slow_readers: slow },
    open_seconds: Math.round(openSeconds * 10) / 10,
    server_cpu_ms_per_open: Math.round((before.cpuMicros - atRest.cpuMicros) / 100 / streams) / 10,
    events: sent.length,
    lost_for_healthy_readers: { measured: lost, required: required.lost },
    delivery_ms: { p50: at(0.5), p99: at(0.99), max: at(1), required_p99: required.p99_ms },
    memory_mb: { measured: Math.round(usage.memoryMax / 1_048_576), required: required.memory_mb },
    memory_gained_in_second_half_mb: { measured: gainedMb, required: required.gained_mb, checked: minutes >= 2 },
    without_payment: unpaid,
    cut_readers: results.reduce((sum, { cut }) => sum + cut, 0),
    server_cpu_ms_per_event: Math.round((usage.cpuMicros - before.cpuMicros) / 1000 / sent.length),
  }
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  reportFigures(
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
  const promised = figures.streams.opened === streams && lost === 0 && unpaid === 402 && flat
  const reached = figures.delivery_ms.p99 < required.p99_ms && figures.memory_mb.measured <= required.memory_mb
  process.stdout.write(
    `seen: ${figures.streams.opened} streams, ${slow} of them slow, ${seconds} s, ${sent.length} events: ${lost} lost for healthy readers, p99 ${at(0.99)} ms, ${figures.memory_mb.measured} MB at most, ${gainedMb} MB gained in the second half, without payment ${unpaid}\n`,
  )
  process.exitCode = promised && (reached || onlyPromise) ? 0 : 1
} finally {
  await Promise.all(children.map((child) => child.stop().catch(() => {})))
  await rm(home, { recursive: true, force: true })
}

/** On a busy machine events come late; what has not come after a minute is lost. */
async function untilArrived(clients: readonly Child[], sent: readonly number[]) {
  for (let tries = 0; ; tries += 1) {
    const results = await Promise.all(clients.map((client) => client.ask<Result>('result')))
    const arrived = results.map(({ arrivals }) => new Map(arrivals))
    const seen = (seq: number) => arrived.reduce((all, arrivals) => all + (arrivals.get(seq) ?? 0), 0)
    const lost = sent.reduce((sum, seq) => sum + (streams - slow - seen(seq)), 0)
    if (lost === 0 || tries === 60) return { results, lost }
    await sleep(1_000)
  }
}

/** By share, from how often each delay was seen. */
function percentiles(delays: readonly [number, number][]): (share: number) => number {
  const sorted = [...delays].sort(([a], [b]) => a - b)
  const whole = sorted.reduce((sum, [, count]) => sum + count, 0)
  return (share) => {
    let passed = 0
    for (const [ms, count] of sorted) {
      passed += count
      if (passed >= whole * share) return ms
    }
    return sorted.at(-1)?.[0] ?? 0
  }
}

async function statusWithout(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/market/intent-stream`, { headers: { accept: 'text/event-stream' } })
  await response.body?.cancel()
  return response.status
}
