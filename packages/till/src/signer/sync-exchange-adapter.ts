import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { SignerConnection } from './https-adapter.ts'

export type SyncExchange = {
  /** Blocks this thread until the signer has answered; throws when it did not in time. */
  post(path: string, body: string): { code: number; body: string }
  close(): Promise<void>
}

type Answer = { id: number; code?: number; body?: string; error?: string }

// Plain JavaScript without imports of ours: it runs the same from sources and from the built package.
const code = `
const { workerData } = require('node:worker_threads')
const https = require('node:https')
const { origin, ca, cert, key, timeoutMs, port, flag } = workerData
const agent = new https.Agent({ ca, cert, key, keepAlive: true, minVersion: 'TLSv1.3' })
port.on('message', ({ id, path, body }) => {
  const tell = (answer) => {
    port.postMessage({ id, ...answer })
    Atomics.add(flag, 0, 1)
    Atomics.notify(flag, 0)
  }
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const request = https.request(origin + path, { agent, method: 'POST', headers, timeout: timeoutMs }, (response) => {
    const chunks = []
    response.on('data', (chunk) => chunks.push(chunk))
    response.on('end', () => tell({ code: response.statusCode, body: Buffer.concat(chunks).toString('utf8') }))
    response.on('error', (error) => tell({ error: error.message }))
  })
  request.on('timeout', () => request.destroy(new Error('timeout')))
  request.on('error', (error) => tell({ error: error.message }))
  request.end(body)
})
`

/**
 * Answers are signed where they are made, without waiting for anything; a signature from elsewhere is therefore fetched by
 * another thread while this one is blocked.
 */
export function syncExchange({ url, ca, cert, key, timeoutMs = 3_000 }: SignerConnection): SyncExchange {
  const { port1, port2 } = new MessageChannel()
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const { origin } = new URL(url)
  const workerData = { origin, ca, cert, key, timeoutMs, port: port2, flag }
  const worker = new Worker(code, { eval: true, execArgv: [], workerData, transferList: [port2] })
  worker.unref()
  let lastId = 0
  return {
    post: (path, body) => {
      lastId += 1
      const answers = Atomics.load(flag, 0)
      port1.postMessage({ id: lastId, path, body })
      const answer = waitFor(lastId, answers, () => receiveMessageOnPort(port1)?.message as Answer | undefined)
      if (answer?.code === undefined) throw new Error(answer?.error ?? 'timeout')
      return { code: answer.code, body: answer.body ?? '' }
    },
    close: async () => {
      port1.close()
      await worker.terminate()
    },
  }

  function waitFor(id: number, seen: number, receive: () => Answer | undefined): Answer | undefined {
    for (let known = seen; ; ) {
      // The time limit of the thread itself, and a second for its word to come through.
      if (Atomics.wait(flag, 0, known, timeoutMs + 1_000) === 'timed-out') return undefined
      known = Atomics.load(flag, 0)
      for (let answer = receive(); answer; answer = receive()) if (answer.id === id) return answer
    }
  }
}
