import { Worker } from 'node:worker_threads'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import type { MatchEngine } from './match-engine.ts'
import type { Found } from './match-index.ts'
import type { Answer, Opened, Question, Size } from './worker-messages.ts'

type Waiting = { resolve(result: Answer['result']): void; reject(error: Error): void }

/** Our own index in a thread. A thread that ends by itself fails what waits for it, and `onLost` may open another. */
export function openThreadEngine(options: { log: Log; folder?: string; onLost(): void }): MatchEngine {
  const worker = new Worker(new URL('./start-index-worker.mjs', import.meta.url), { execArgv: [] })
  const waiting = new Map<number, Waiting>()
  let last = 0
  let over = false
  const end = (reason: string) => {
    const unexpected = !over
    over = true
    for (const { reject } of waiting.values())
      reject(new Problem('not_ready', { detail: reason, retryAfterSeconds: 2 }))
    waiting.clear()
    if (!unexpected) return
    options.log.error({ reason }, 'the thread of the match index ended')
    options.onLost()
  }
  worker.on('message', ({ id, result, error }: Answer) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error))
  })
  worker.on('error', (error) => end(String(error)))
  worker.on('exit', () => end('it exited'))
  // What waits is held by its own promise; an idle thread keeps no process alive.
  worker.unref()

  const ask = (question: Question): Promise<Answer['result']> => {
    if (over) return Promise.reject(new Problem('not_ready', { retryAfterSeconds: 2 }))
    return new Promise((resolve, reject) => {
      last += 1
      waiting.set(last, { resolve, reject })
      worker.postMessage({ ...question, id: last })
    })
  }
  const opened =
    options.folder === undefined ? Promise.resolve({ indexedTo: 0 }) : ask({ kind: 'open', folder: options.folder })
  opened.catch(() => {})
  return {
    name: 'index',
    indexedTo: async () => ((await opened) as Opened).indexedTo,
    search: async (query, filters, limit) => (await ask({ kind: 'search', query, filters, limit })) as Found,
    add: async (docs) => {
      await ask({ kind: 'add', docs })
    },
    setScores: async (scores) => {
      await ask({ kind: 'scores', scores })
    },
    size: async () => (await ask({ kind: 'size' })) as Size,
    stop: async () => {
      over = true
      await worker.terminate()
    },
  }
}
