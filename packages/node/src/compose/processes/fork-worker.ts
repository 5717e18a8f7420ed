import { type ChildProcess, fork } from 'node:child_process'
import type { SocketHandle } from '../../http/index.ts'
import { type FromWorker, handlesPerWorker, type ToWorker, type WorkerReady } from './messages.ts'
import type { Worker } from './supervise-workers.ts'

export type ForkedWorker = Worker<WorkerReady> & { send(message: ToWorker): void }

/** The command that started this process, again, as a worker with its own descriptors of the socket. */
export function forkWorker(
  env: Record<string, string | undefined>,
  handle: SocketHandle,
  onMessage: (message: FromWorker, from: ForkedWorker) => void,
): ForkedWorker {
  const [, script = '', ...args] = process.argv
  const child = fork(script, args, { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const send = (message: ToWorker) => deliver(child, message)
  for (let given = 0; given < handlesPerWorker; given += 1) deliver(child, { kind: 'socket' }, handle)
  const worker: ForkedWorker = {
    ready: new Promise((resolve) => {
      void ended.then(() => resolve(undefined))
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') resolve(message)
        else onMessage(message, worker)
      })
    }),
    ended,
    send,
    drain: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
  return worker
}

/** A worker that is gone gets nothing; its end is noticed elsewhere. */
function deliver(child: ChildProcess, message: ToWorker, handle?: SocketHandle): void {
  if (child.connected) child.send(message, handle as never, () => {})
}
