import { connect, type Socket } from 'node:net'
import { createAnswerReader } from './answer-reader.ts'

export type SocketPool = {
  /** One request over an idle connection, or a new one. Rejects when the connection breaks before the whole answer. */
  send(request: Buffer): Promise<{ status: number; bytes: Buffer }>
  open(): number
  close(): void
}

type Line = {
  socket: Socket
  idleSinceMs: number
  answer?: (status: number, bytes: Buffer) => void
  fail?: (error: Error) => void
}

/** Well below the 20 s after which a node closes what is idle, as its Keep-Alive header says. */
const idleMsMax = 10_000
const closesAfter = Buffer.from('\r\nConnection: close')

/** Keep-alive connections, one request open on each. */
export function openSocketPool(port: number): SocketPool {
  const idle: Line[] = []
  const all = new Set<Line>()
  const openLine = (): Line => {
    const line: Line = { socket: connect({ port, host: '127.0.0.1', noDelay: true }), idleSinceMs: 0 }
    const end = (error: Error) => {
      all.delete(line)
      const place = idle.indexOf(line)
      if (place >= 0) idle.splice(place, 1)
      line.socket.destroy()
      line.fail?.(error)
    }
    const read = createAnswerReader((status, bytes) => {
      const { answer } = line
      delete line.answer
      delete line.fail
      if (bytes.subarray(0, 4_096).includes(closesAfter)) end(new Error('closed'))
      else {
        line.idleSinceMs = performance.now()
        idle.push(line)
      }
      answer?.(status, bytes)
    })
    line.socket.on('data', read)
    line.socket.on('error', end)
    line.socket.on('close', () => end(new Error('the server closed the connection')))
    all.add(line)
    return line
  }
  /** One that was used recently; older ones the server may be closing just now. */
  const freshLine = (): Line | undefined => {
    const line = idle.pop()
    if (!line || performance.now() - line.idleSinceMs < idleMsMax) return line
    for (const old of [line, ...idle.splice(0)]) {
      all.delete(old)
      old.socket.destroy()
    }
    return undefined
  }
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const line = freshLine() ?? openLine()
        line.answer = (status, bytes) => resolve({ status, bytes })
        line.fail = reject
        line.socket.write(request)
      }),
    open: () => all.size,
    close: () => {
      for (const { socket } of all) socket.destroy()
    },
  }
}
