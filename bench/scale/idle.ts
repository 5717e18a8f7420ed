import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../process/child.ts'
import { closeOnSignal } from '../process/on-signal.ts'
import { root } from '../process/output-of.ts'
import { readyUrl } from '../process/ready-url.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import type { Verdict } from './verdict.ts'

const minute = 60_000
const watchedMinutes = 5

type Node = { what: string; asked: { share: number; megabytes?: number }; pid: number }

/** What a production node with every shop and a demo node cost while nobody calls them, some time after their start. */
export async function watchIdleNodes(afterMinutes: number, say: (text: string) => void): Promise<Verdict[]> {
  const stops: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop().catch(() => {})
  }
  const removeHandler = closeOnSignal(close)
  try {
    const nodes = [await startProduction(stops), await startDemo(stops)]
    for (let left = afterMinutes; left > 0; left -= 1) {
      say(`  ${left} minutes until they are idle`)
      await sleep(minute)
    }
    const before = nodes.map(({ pid }) => cpuSeconds(pid))
    const startedMs = performance.now()
    await sleep(watchedMinutes * minute)
    const seconds = (performance.now() - startedMs) / 1000
    return nodes.map((node, place) =>
      verdictOn(node, (cpuSeconds(node.pid) - (before[place] ?? 0)) / seconds, afterMinutes),
    )
  } finally {
    removeHandler()
    await close()
  }
}

async function startProduction(stops: (() => Promise<unknown>)[]): Promise<Node> {
  const opened = async (file: string, env: Record<string, string>): Promise<Child> => {
    const child = await startChild(file, env)
    stops.push(() => child.stop())
    return child
  }
  const chains = await opened('scale/idle-chains.ts', {})
  const urls = await chains.ask<string[]>('urls')
  const node = await opened('scale/idle-node.ts', { CHAIN_URLS: urls.join(',') })
  return { what: 'in production with every shop', asked: { share: 0.01 }, pid: await node.ask<number>('pid') }
}

/** As `npm start` does it: with its chains in the same process. */
async function startDemo(stops: (() => Promise<unknown>)[]): Promise<Node> {
  const home = await temporaryHome()
  stops.push(() => rm(home, { recursive: true, force: true }))
  const env = { ...process.env, MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '32768' }
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ASSAY_HOME: home, PORT: '0', DEVNET_PORTS: '0,0' },
  })
  stops.push(() => ended(child))
  await readyUrl(child)
  return { what: 'of a demo with its chains', asked: { share: 0.02, megabytes: 400 }, pid: child.pid as number }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

function verdictOn({ what, asked, pid }: Node, share: number, afterMinutes: number): Verdict {
  const megabytes = residentMegabytes(pid)
  const percent = (part: number) => `${(part * 100).toFixed(2)} % of a core`
  const faults = [
    ...(share > asked.share ? [`${percent(share)} is more than ${percent(asked.share)}`] : []),
    ...(asked.megabytes !== undefined && megabytes > asked.megabytes ? [`${megabytes} MB`] : []),
  ]
  return {
    name: `an idle node ${what}, ${afterMinutes} minutes after its start, the process without its database`,
    asked: `${percent(asked.share)}${asked.megabytes === undefined ? '' : `, ${asked.megabytes} MB`}`,
    measured: `${percent(share)}, ${megabytes} MB`,
    faults,
  }
}

const ticksPerSecond = 100

/** User and system time of all threads. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
