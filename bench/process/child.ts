import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Answer } from './commands.ts'

export type Child = {
  ask<Result>(name: string, argument?: unknown): Promise<Result>
  stop(): Promise<void>
}

type Waiting = { resolve(value: unknown): void; reject(error: Error): void }

/** Starts a file of this folder in its own process; resolves when it is ready to be asked. */
export async function startChild(
  file: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<Child> {
  const child = fork(join(import.meta.dirname, '..', file), {
    execArgv: ['--import', 'tsx', ...nodeOptions],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'production', ...env },
  })
  const waiting = new Map<number, Waiting>()
  let last = 0
  const ended = new Promise<void>((resolve) =>
    child.once('exit', (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`))
      resolve()
    }),
  )
  child.on('message', ({ id, result, error }: Answer) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(`${file}: ${error}`))
  })
  await new Promise((resolve, reject) => waiting.set(0, { resolve, reject }))
  return {
    ask: <Result>(name: string, argument?: unknown) =>
      new Promise<Result>((resolve, reject) => {
        last += 1
        waiting.set(last, { resolve: resolve as (value: unknown) => void, reject })
        // A process that is gone answers by rejecting: as an event, the error would end this one before it cleaned up.
        child.send({ id: last, name, argument }, (error) => error && reject(error))
      }),
    stop: async () => {
      // It may be ending by itself.
      if (child.connected) child.send({ id: -1, name: 'stop' }, () => {})
      await ended
    },
  }
}
