import { type ChildProcess, spawn } from 'node:child_process'

export type StartedSeller = { restart(): Promise<void>; stop(): void }

const readyMsMax = 180_000

/** Runs the command of a seller, so that it can be killed in the middle of a sale and started again. */
export async function startSeller(command: string, url: string): Promise<StartedSeller> {
  let child: ChildProcess | undefined
  const kill = () => {
    // Its whole group: a shell in between would leave the seller behind.
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    child = undefined
  }
  const start = async () => {
    child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 2, 2] })
    const untilMs = Date.now() + readyMsMax
    while (Date.now() < untilMs) {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
      await response?.body?.cancel()
      if (response !== undefined && response.status < 500) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    kill()
    throw new Error(`the seller did not answer at ${url} within ${readyMsMax / 1000} s`)
  }
  process.once('exit', kill)
  await start()
  return {
    restart: async () => {
      kill()
      await start()
    },
    stop: kill,
  }
}
