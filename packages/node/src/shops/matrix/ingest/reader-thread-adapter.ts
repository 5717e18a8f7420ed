import { Worker } from 'node:worker_threads'
import type { Clock } from '@assay/till/kernel/clock'
import type { DemoSize } from '../demo/plan.ts'
import type { FileRead, FileToRead } from './read-file.ts'
import type { ReaderAnswer, ReaderQuestion } from './reader-worker.ts'

export type FileReader = {
  read(file: FileToRead, nowMs: number): Promise<FileRead>
  /** Makes the n-th file of the demo and reads it. */
  readDemo(size: DemoSize, index: number, nowMs: number): Promise<Given>
  stop(): Promise<void>
}

type Given = { read: FileRead; availableAtMs?: number }
type Waiting = { resolve(given: Given): void; reject(error: Error): void }
type Question = ReaderQuestion extends infer One ? (One extends unknown ? Omit<One, 'id'> : never) : never
type Thread = { worker: Worker; waiting: Map<number, Waiting> }

/** Files come in bursts; between them its memory is given back. */
const idleMs = 30_000

/** Reads market data files in a thread that lives while there are some. */
export function openFileReader(clock: Clock): FileReader {
  const stopping = new AbortController()
  let thread: Thread | undefined
  let last = 0

  const start = (): Thread => {
    const worker = new Worker(new URL('./start-reader-worker.mjs', import.meta.url), { execArgv: [] })
    const started: Thread = { worker, waiting: new Map() }
    const end = (reason: string) => {
      if (thread === started) thread = undefined
      for (const { reject } of started.waiting.values())
        reject(new Error(`the thread that reads files ended: ${reason}`))
      started.waiting.clear()
    }
    worker.on('message', (answer: ReaderAnswer) => {
      const asked = started.waiting.get(answer.id)
      started.waiting.delete(answer.id)
      if ('read' in answer) asked?.resolve(answer)
      else asked?.reject(new Error(answer.error))
      if (started.waiting.size === 0) void endWhenIdle(started, last)
    })
    worker.on('error', (error) => end(String(error)))
    worker.on('exit', () => end('it exited'))
    // What waits is held by its own promise; an idle thread keeps no process alive.
    worker.unref()
    return started
  }

  const endWhenIdle = async (idle: Thread, asked: number) => {
    await clock.sleep(idleMs, stopping.signal).catch(() => {})
    if (last !== asked) return
    // First: who asks from now on gets another thread.
    if (thread === idle) thread = undefined
    await idle.worker.terminate()
  }

  const ask = (question: Question): Promise<Given> => {
    if (stopping.signal.aborted) return Promise.reject(new Error('the node stops'))
    thread ??= start()
    const { worker, waiting } = thread
    return new Promise((resolve, reject) => {
      last += 1
      waiting.set(last, { resolve, reject })
      worker.postMessage({ ...question, id: last })
    })
  }
  return {
    read: async (file, nowMs) => (await ask({ file, nowMs })).read,
    readDemo: (size, index, nowMs) => ask({ demo: { size, index }, nowMs }),
    stop: async () => {
      stopping.abort()
      await thread?.worker.terminate()
    },
  }
}
