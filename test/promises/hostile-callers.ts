// Callers that mean harm, in a separate process; asked by the proof that measures what others notice of them.
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { answerCommands } from '../../bench/process/commands.ts'

const sockets: Socket[] = []
/** Slow connections that nobody has cut yet. */
let open = 0

function dripHeaders(port: number, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    open += 1
    socket.on('connect', () => socket.write('GET /v1/sandbox/echo HTTP/1.1\r\nX-Slow: '))
    const drip = setInterval(() => socket.write('a'), 3_000)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      open -= 1
    })
  }
}

const chunk = Buffer.alloc(65_536, 'x')

/** A hundred megabytes without a payment, plain or packed; returns the status it got, or how it ended. */
function flood(port: number, packed: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    let left = 100 * 1_048_576
    let seen = ''
    const body = packed ? gzipSync(Buffer.alloc(8 * 1_048_576)) : chunk
    const pump = () => {
      while (left > 0 && !socket.destroyed) {
        left -= body.length
        if (!socket.write(body)) return
      }
    }
    socket.on('connect', () => {
      socket.write(
        `POST /v1/sandbox/echo HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${packed ? 'Content-Encoding: gzip\r\n' : ''}Content-Length: ${left}\r\n\r\n`,
      )
      pump()
    })
    socket.on('drain', pump)
    socket.on('data', (piece: Buffer) => {
      seen += piece.toString('latin1', 0, 64)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(/HTTP\/1\.1 (\d{3})/.exec(seen)?.[1] ?? (left > 0 ? 'cut' : 'nothing, and read')))
    setTimeout(() => {
      resolve('nothing, and not cut')
      socket.destroy()
    }, 60_000).unref()
  })
}

answerCommands(
  {
    /** Resolves when the endless bodies have ended, with how each of them did. */
    attack: ({ port, count }: { port: number; count: number }) => {
      dripHeaders(port, count)
      return Promise.all(Array.from({ length: 8 }, (_, index) => flood(port, index % 2 === 0)))
    },
    open: () => open,
  },
  async () => {
    for (const socket of sockets) socket.destroy()
  },
)
