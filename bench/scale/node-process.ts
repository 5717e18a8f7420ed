import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { readyUrl } from '../process/ready-url.ts'
import type { Cluster, Env } from './cluster.ts'

/** One process of the node, started as an operator starts it: `node scripts/start.mjs`. */
export type NodeProcess = {
  readonly port: number
  readonly url: string
  readonly pid: number | undefined
  start(): Promise<void>
  /** SIGTERM drains; SIGKILL does not ask. Resolves when the process has ended, with its exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

const startScript = join(import.meta.dirname, '..', '..', 'scripts', 'start.mjs')

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
    get pid() {
      return child?.pid
    },
    start: async () => {
      child = spawn(process.execPath, [startScript], {
        env: cluster.env(port, more),
        stdio: ['ignore', 'pipe', 'pipe'],
        // Ctrl-C also reaches the parent process, which ends its processes in order.
        detached: true,
      })
      await readyUrl(child)
    },
    end,
  }
}
