import { connect, type Socket } from 'node:net'
import { createAnswerReader } from './answer-reader.ts'
import type { NextRequest } from './requests.ts'

export type LoadResult = {
  requests: number
  seconds: number
  /** How often each status came. */
  statuses: Record<string, number>
  p50Ms: number
  p99Ms: number
  /** The last answer, as it came. */
  sample: string
}

export type LoadOptions = { port: number; connections: number; secondsMax: number }

/** A closed loop: every connection sends its next request when it has the whole answer to its last one. */
export async function runLoad(options: LoadOptions, next: NextRequest): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => openSocket(options.port)))
  try {
    return await drive(sockets, options.secondsMax * 1000, next)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function drive(sockets: readonly Socket[], msMax: number, next: NextRequest): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const counts = new Map<number, number>()
    const latencies: number[] = []
    let busy = sockets.length
    let last: Buffer = Buffer.alloc(0)
    let endedMs = 0
    const startedMs = performance.now()
    const finish = () => {
      busy -= 1
      if (busy > 0) return
      const statuses = Object.fromEntries([...counts].map(([status, count]) => [String(status), count]))
      const requests = [...counts.values()].reduce((sum, count) => sum + count, 0)
      latencies.sort((x, y) => x - y)
      const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
      const seconds = (endedMs - startedMs) / 1000
      resolve({ requests, seconds, statuses, p50Ms: at(0.5), p99Ms: at(0.99), sample: last.toString('latin1') })
    }
    for (const socket of sockets) {
      let sentMs = startedMs
      let waiting = true
      const send = () => {
        const request = endedMs - startedMs < msMax ? next() : undefined
        if (request === undefined) {
          waiting = false
          return finish()
        }
        sentMs = performance.now()
        socket.write(request)
      }
      // A connection with nothing more to send is idle while others finish; the server may close it as its keep-alive says.
      const fail = (error: Error) => waiting && reject(error)
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the server closed a connection')))
      socket.on(
        'data',
        createAnswerReader((status, bytes) => {
          counts.set(status, (counts.get(status) ?? 0) + 1)
          last = bytes
          endedMs = performance.now()
          latencies.push(endedMs - sentMs)
          send()
        }),
      )
      send()
    }
  })
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
