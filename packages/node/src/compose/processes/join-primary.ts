import type { Families, SocketHandle } from '../../http/index.ts'
import { type FromWorker, handlesPerWorker, type ToWorker, type WorkerReady } from './messages.ts'

/** The way of a worker to its primary. */
export type PrimaryChannel = {
  /** All descriptors of the socket, once they have come. */
  handles: Promise<readonly SocketHandle[]>
  ready(note: WorkerReady): void
  /** The metrics of all workers. */
  gather(): Promise<readonly Families[]>
  /** What this worker answers with when it is asked for its own. */
  answerWith(families: () => Promise<Families>): void
}

/** Undefined in a process that nobody forked. `onGone`: the primary ended, and with it database and chains of a demo. */
export function joinPrimary(onGone: () => void): PrimaryChannel | undefined {
  if (process.send === undefined) return undefined
  const send = (message: FromWorker) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  }
  const waiting = new Map<number, (families: readonly Families[]) => void>()
  const handles: SocketHandle[] = []
  let own: (() => Promise<Families>) | undefined
  let last = 0
  let given: (handles: readonly SocketHandle[]) => void = () => {}
  const complete = new Promise<readonly SocketHandle[]>((resolve) => {
    given = resolve
  })
  process.on('message', async (message: ToWorker, handle) => {
    if (message.kind === 'socket') {
      handles.push(handle as unknown as SocketHandle)
      if (handles.length === handlesPerWorker) given(handles)
    } else if (message.kind === 'gathered') {
      waiting.get(message.id)?.(message.families)
      waiting.delete(message.id)
    } else send({ kind: 'metrics', id: message.id, families: (await own?.()) ?? [] })
  })
  process.once('disconnect', onGone)
  return {
    handles: complete,
    ready: (note) => send({ kind: 'ready', ...note }),
    gather: () =>
      new Promise((resolve) => {
        last += 1
        waiting.set(last, resolve)
        send({ kind: 'gather', id: last })
      }),
    answerWith: (families) => {
      own = families
    },
  }
}
