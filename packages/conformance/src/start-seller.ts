import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { sleep } from './time.ts'

export type StartedSeller = { restart(): Promise<void>; stop(): Promise<void> }

const readyMsMax = 180_000
/** What a seller may take to close its own children, such as a database, before it is killed. */
const stopMsMax = 20_000

/** Runs the command of a seller, so that it can be killed in the middle of a sale and started again. */
export async function startSeller(command: string, url: string): Promise<StartedSeller> {
  let running: { child: ChildProcess; guard: ChildProcess } | undefined
  const start = async () => {
    const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 2, 2] })
    running = { child, guard: watchOver(child) }
    const untilMs = Date.now() + readyMsMax
    while (Date.now() < untilMs) {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
      await response?.body?.cancel()
      if (response !== undefined && response.status < 500) return
      if (hasEnded(child)) throw new Error(`the seller ended before it answered at ${url}: ${command.slice(0, 200)}`)
      await sleep(200)
    }
    await stop()
    throw new Error(`the seller did not answer at ${url} within ${readyMsMax / 1000} s`)
  }
  const stop = async () => {
    if (running === undefined) return
    const { child, guard } = running
    running = undefined
    signalGroup(child, 'SIGTERM')
    for (const untilMs = Date.now() + stopMsMax; signalGroup(child, 0) && Date.now() < untilMs; ) await sleep(50)
    signalGroup(child, 'SIGKILL')
    guard.kill()
  }
  await start()
  return {
    restart: async () => {
      if (running) {
        signalGroup(running.child, 'SIGKILL')
        running.guard.kill()
      }
      await start()
    },
    stop,
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** The whole group: a shell in between would leave the seller behind. False when nobody of it is left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** However this process ends, killed included: when our end of the pipe goes, the shell ends the seller. */
function watchOver({ pid }: ChildProcess): ChildProcess {
  const script = `cat >/dev/null; kill -s TERM -- "-$1"; sleep ${stopMsMax / 1000}; kill -s KILL -- "-$1"`
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], {
    ...{ cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  })
  guard.unref()
  ;(guard.stdin as Socket).unref()
  return guard
}
