import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Counts what this process sends and receives over TCP, as client and as server, but for what goes to these addresses. */
export function countTraffic(leftOut: readonly (string | undefined)[]): () => number {
  const ports = new Set(leftOut.flatMap((url) => (url === undefined ? [] : [Number(new URL(url).port)])))
  const open = new Set<Socket>()
  const bytesOf = ({ bytesRead, bytesWritten }: Socket) => bytesRead + bytesWritten
  let closed = 0
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket }
    open.add(socket)
    // A local socket, which has no port, leads to the database.
    socket.once('connect', () => {
      if (socket.remotePort === undefined || ports.has(socket.remotePort)) open.delete(socket)
    })
    socket.once('close', () => {
      if (open.delete(socket)) closed += bytesOf(socket)
    })
  }
  subscribe('net.client.socket', watch)
  subscribe('net.server.socket', watch)
  return () => [...open].reduce((sum, socket) => sum + bytesOf(socket), closed)
}
