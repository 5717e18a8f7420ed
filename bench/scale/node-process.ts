import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import type { Cluster, Env } from './cluster.ts'

/** One process of the node, started as an operator starts it: `node scripts/start.mjs`. */
export type NodeProcess = {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  /** SIGTERM drains; SIGKILL does not ask. Resolves when the process has ended, with its exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

const startScript = join(import.meta.dirname, '..', '..', 'scripts', 'start.mjs')
const readyWithinMs = 120_000

export async function createNodeProcess(cluster: Cluster, more: Env = {}): Promise<NodeProcess> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const ended = new Promise<number | null>((resolve) => child?.once('exit', (code) => resolve(code)))
    child.kill(signal)
    return ended
  }
  cluster.adopt(() => end('SIGKILL'))
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    start: async () => {
      child = spawn(process.execPath, [startScript], {
        env: cluster.env(port, more),
        stdio: ['ignore', 'pipe', 'pipe'],
        // Ctrl-C goes to anyone who started this; it ends its processes in order.
        detached: true,
      })
      await ready(child)
    },
    end,
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`a node was not ready after ${readyWithinMs / 1000} s: ${said}`))
    }, readyWithinMs)
    child.stderr?.on('data', (piece: Buffer) => {
      said = `${said}${piece.toString()}`.slice(-4_000)
    })
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.startsWith('ready ')) return
      clearTimeout(late)
      resolve()
    })
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`a node ended with ${code} before it was ready: ${said}`))
    })
  })
}
