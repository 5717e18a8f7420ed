import { Worker } from 'node:worker_threads'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import type { PageProblem } from '../../sources/page/index.ts'
import { attestationProblems } from '../problems.ts'
import { type FoundQuote, findQuote } from './find-quote.ts'
import { type CitedPage, type PageTask, readCited } from './read-cited.ts'

/** Parses pages and searches their text, large ones in threads. */
export type PageThreads = {
  read(bytes: Uint8Array, url: string, headers: ReadonlyMap<string, string>): Promise<CitedPage | PageProblem>
  find(text: string, quote: string): Promise<FoundQuote>
  stop(): Promise<void>
}

export type PageThreadOptions = {
  clock: Clock
  log: Log
  threadsMax?: number
  waitingMax?: number
  /** For one task, the start of its thread included. */
  taskMs?: number
  startWorker?(): Worker
}

type Job = { task: PageTask; resolve(result: unknown): void; reject(error: Error): void }

/** Up to here parsing takes less time than handing it to a thread. */
const inlineMax = 65_536

const startPageWorker = () =>
  new Worker(new URL('./start-page-worker.mjs', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })

/** A thread that ends or takes too long fails the one task it had; the next task gets another thread. */
export function openPageThreads(options: PageThreadOptions): PageThreads {
  const { threadsMax = 2, waitingMax = 32, taskMs = 10_000, startWorker = startPageWorker } = options
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: Job[] = []
  let stopped = false

  const start = (): Worker => {
    const worker = startWorker()
    // A running task is held by its promise; an idle thread keeps no process alive.
    worker.unref()
    // Without a listener, an error between two tasks would end the process.
    worker.on('error', () => drop(worker))
    worker.on('exit', () => drop(worker))
    all.add(worker)
    return worker
  }
  const drop = (worker: Worker) => {
    all.delete(worker)
    const at = idle.indexOf(worker)
    if (at >= 0) idle.splice(at, 1)
    void worker.terminate()
  }
  const next = () => {
    while (waiting.length > 0 && !stopped) {
      const worker = idle.pop() ?? (all.size < threadsMax ? start() : undefined)
      if (!worker) return
      void work(worker, waiting.shift() as Job)
    }
  }
  const work = async (worker: Worker, job: Job) => {
    try {
      job.resolve(await runTask(options.clock, worker, job.task, taskMs))
      if (all.has(worker)) idle.push(worker)
    } catch (error) {
      options.log.warn({ error: String(error) }, 'a page could not be parsed')
      job.reject(
        new Problem(attestationProblems.page_unreadable, {
          detail: `The page could not be parsed: ${(error as Error).message}.`,
        }),
      )
      drop(worker)
    }
    next()
  }
  const ask = <T>(task: PageTask): Promise<T> => {
    if (stopped || waiting.length >= waitingMax)
      return Promise.reject(
        new Problem('not_ready', { detail: 'Too many large pages are being read.', retryAfterSeconds: 5 }),
      )
    return new Promise<T>((resolve, reject) => {
      waiting.push({ task, resolve: resolve as Job['resolve'], reject })
      next()
    })
  }
  return {
    read: async (bytes, url, headers) =>
      bytes.length <= inlineMax ? readCited(bytes, url, headers) : ask({ kind: 'read', bytes, url, headers }),
    find: async (text, quote) =>
      text.length <= inlineMax ? findQuote(text, quote) : ask({ kind: 'find', text, quote }),
    stop: async () => {
      stopped = true
      for (const job of waiting.splice(0)) job.reject(new Problem('not_ready', { retryAfterSeconds: 5 }))
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

/** Resolves with what the thread posts; rejects when it ends first or the time is up. */
function runTask(clock: Clock, worker: Worker, task: PageTask, taskMs: number): Promise<unknown> {
  const done = new AbortController()
  return new Promise((resolve, reject) => {
    const onMessage = (result: unknown) => resolve(result)
    const onError = () => reject(new Error('the parser failed'))
    worker.once('message', onMessage)
    worker.once('error', onError)
    worker.once('exit', onError)
    done.signal.addEventListener('abort', () => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onError)
    })
    clock.sleep(taskMs, done.signal).then(
      () => reject(new Error('it took too long')),
      () => {},
    )
    worker.postMessage(task)
  }).finally(() => done.abort())
}
