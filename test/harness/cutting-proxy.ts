import { connect, createServer } from 'node:net'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

/** A loopback TCP proxy that can lose answers on their way back. */
export type CuttingProxy = {
  url: string
  /** The next answers to requests that match are not delivered: the connection is cut instead. */
  cut(answers: number, matches?: (request: string) => boolean): void
  cutCount(): number
  close(): Promise<void>
}

export async function openCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  let left = 0
  let done = 0
  let matches: (request: string) => boolean = () => true
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    let request = ''
    for (const socket of [client, upstream]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk) => {
      // One connection carries many requests: a request line begins a new one.
      const text = chunk.toString('latin1')
      request = /^[A-Z]+ \S+ HTTP/.test(text) ? text : request + text
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (left === 0 || !matches(request)) return void client.write(chunk)
      left -= 1
      done += 1
      client.destroy()
      upstream.destroy()
    })
  })
  const { url, close } = await onLoopback(server)
  return {
    url,
    cut: (answers, only = () => true) => {
      left = answers
      matches = only
    },
    cutCount: () => done,
    close,
  }
}
