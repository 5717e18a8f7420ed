import type { AddressInfo, Server, Socket } from 'node:net'

export type OnLoopback = { port: number; url: string; close(): Promise<void> }

/** The server listens on a free port of this machine; closing it ends every connection that it has. */
export async function onLoopback(server: Server, host = '127.0.0.1'): Promise<OnLoopback> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  return { port, url: `http://${host}:${port}`, close }
}
