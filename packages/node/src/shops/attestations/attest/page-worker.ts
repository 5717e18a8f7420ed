// The thread that parses large pages, so that other requests are not delayed.
import { parentPort } from 'node:worker_threads'
import { findQuote } from './find-quote.ts'
import { type PageTask, readCited } from './read-cited.ts'

parentPort?.on('message', (task: PageTask) => {
  parentPort?.postMessage(
    task.kind === 'read' ? readCited(task.bytes, task.url, task.headers) : findQuote(task.text, task.quote),
  )
})
